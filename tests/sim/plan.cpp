#include "sim/plan.hpp"

#include <algorithm>
#include <array>

// The mixture aims at what is hard: one name that nearly everybody wants, leases hardly longer than the faults, users
// who change their minds, and several clients that die or stop at the same moment while they stand in the same line.

namespace holdfast::sim {

namespace {

constexpr std::uint32_t fewest_turns = 200;
constexpr std::uint32_t session_per_mille = 250;
constexpr std::uint32_t modes_per_mille = 700;
constexpr microseconds span{900'000};  // when faults begin; the turns take about as long

microseconds often_short(Dice& dice, microseconds usual, microseconds longest) {
  return dice.between(microseconds(20), dice.chance(60) ? longest : usual);
}

Turn make_turn(Dice& dice, const Plan& plan, std::uint32_t hot_per_mille, milliseconds common_ttl) {
  static constexpr std::array<milliseconds, 4> ttls = {milliseconds(80), milliseconds(100), milliseconds(200),
                                                       milliseconds(400)};
  Turn turn;
  turn.client = static_cast<std::uint8_t>(dice.below(plan.clients));
  turn.name = dice.chance(hot_per_mille) ? 0 : static_cast<std::uint8_t>(1 + dice.below(plan.names - 1U));
  turn.ttl = dice.chance(850) ? common_ttl : ttls[dice.below(ttls.size())];
  turn.thinks = often_short(dice, microseconds(15'000), microseconds(80'000));
  turn.holds = often_short(dice, microseconds(4'000), microseconds(40'000));
  turn.listens = dice.chance(300);
  turn.refuses_to_wait = dice.chance(80);
  if (dice.chance(200)) turn.deadline = dice.between(microseconds(1), microseconds(dice.chance(200) ? 2'000 : 120'000));
  if (dice.chance(120)) turn.cancels_after = dice.between(microseconds(20), microseconds(60'000));
  if (dice.chance(250)) turn.writes_after = dice.between(microseconds(10), std::max(turn.holds, microseconds(200)));
  if (dice.chance(300)) turn.ending = Ending::release_and_hear;

  if (dice.chance(60)) {
    turn.fixed_lease = true;
    if (dice.chance(400)) turn.ending = Ending::forget;
    if (dice.chance(300)) turn.holds = dice.between(microseconds(turn.ttl) / 2, microseconds(turn.ttl) * 3 / 2);
  } else if (dice.chance(30)) {
    turn.max_hold = dice.between(milliseconds(1), milliseconds(40));
    if (dice.chance(500)) turn.ending = Ending::forget;
  } else if (dice.chance(15)) {
    turn.holds = dice.between(microseconds(turn.ttl), microseconds(turn.ttl) * 2);
  }
  if (dice.chance(40)) {
    turn.extends_after = dice.between(microseconds(100), std::max(turn.holds, microseconds(300)));
    turn.extends_by = dice.between(milliseconds(50), milliseconds(400));
  }
  return turn;
}

Fault make_fault(Dice& dice, const Plan& plan) {
  struct Choice {
    FaultKind kind;
    std::uint32_t weight;
    microseconds shortest;
    microseconds longest;
  };
  static constexpr std::array<Choice, 11> choices = {{
      {FaultKind::lose_requests, 8, microseconds(20'000), microseconds(300'000)},
      {FaultKind::lose_replies, 10, microseconds(20'000), microseconds(300'000)},
      {FaultKind::repeat_requests, 8, microseconds(20'000), microseconds(300'000)},
      {FaultKind::delay_messages, 12, microseconds(20'000), microseconds(300'000)},
      {FaultKind::disturb_pushes, 8, microseconds(20'000), microseconds(400'000)},
      {FaultKind::slow_link, 14, microseconds(30'000), microseconds(400'000)},
      {FaultKind::cut_link, 12, microseconds(10'000), microseconds(400'000)},
      {FaultKind::stop_store, 5, microseconds(5'000), microseconds(250'000)},
      {FaultKind::pause, 16, microseconds(1'000), microseconds(500'000)},
      {FaultKind::crash, 12, microseconds(1'000), microseconds(300'000)},
      {FaultKind::close, 6, microseconds(1'000), microseconds(100'000)},
  }};
  std::uint32_t all = 0;
  for (const Choice& choice : choices) all += choice.weight;
  std::uint32_t at = dice.below(all);
  const Choice* chosen = choices.data();
  while (at >= chosen->weight) at -= (chosen++)->weight;

  Fault fault;
  fault.kind = chosen->kind;
  fault.at = dice.between(microseconds(5'000), span);
  fault.length = dice.between(chosen->shortest, chosen->longest);
  fault.per_mille = 1000;
  const bool about_messages = fault.kind < FaultKind::slow_link;
  if (about_messages) fault.per_mille = 100 + 100 * dice.below(8);
  const bool of_all = fault.kind == FaultKind::stop_store || (about_messages && dice.chance(250));
  fault.client = of_all ? Fault::everybody : static_cast<std::uint8_t>(dice.below(plan.clients));
  return fault;
}

/// Several clients at once.
void add_burst(Dice& dice, Plan& plan, FaultKind kind) {
  const microseconds at = dice.between(microseconds(5'000), span);
  const auto spared = static_cast<std::uint8_t>(dice.below(plan.clients));
  for (std::uint8_t client = 0; client < plan.clients; ++client) {
    if (client == spared || dice.chance(150)) continue;
    plan.faults.push_back({.kind = kind,
                           .client = client,
                           .at = at + dice.between(microseconds(0), microseconds(500)),
                           .length = dice.between(microseconds(200'000), microseconds(700'000))});
  }
}

/// Readers, writers that become readers, semaphores and lock delays; in many histories, all turns but few want one
/// name.
void add_modes(Dice& dice, Plan& plan) {
  for (std::size_t name = 0; name < plan.names; ++name) {
    if (dice.chance(300)) plan.limits[name] = static_cast<std::uint8_t>(2 + dice.below(4));
  }
  const std::uint32_t readers = 200 + 100 * dice.below(7);
  // Where leases belong to a session, what a living client does not give back would stay closed for ever.
  const bool delays = dice.chance(300) && !plan.session_leases;
  const milliseconds lock_delay = delays ? dice.between(milliseconds(10), milliseconds(80)) : milliseconds(0);
  for (Turn& turn : plan.turns) {
    const std::uint8_t limit = plan.limits[turn.name];
    if (dice.chance(900)) turn.lock_delay = lock_delay;
    if (limit > 0) {
      turn.mode = ClaimMode::permits;
      turn.permits = static_cast<std::uint8_t>(dice.chance(600) ? 1 : 1 + dice.below(limit));
    } else if (dice.chance(readers)) {
      turn.mode = ClaimMode::shared;
    } else if (dice.chance(250)) {
      turn.downgrades_after = dice.between(microseconds(10), std::max(turn.holds, microseconds(100)));
    }
    if (turn.mode != ClaimMode::exclusive) turn.writes_after = {};  // readers do not write
  }
}

}  // namespace

Plan make_plan(std::uint64_t seed) {
  Dice dice(seed);
  Plan plan;
  plan.seed = seed;
  plan.clients = static_cast<std::uint8_t>(4 + dice.below(3));
  plan.names = static_cast<std::uint8_t>(3 + dice.below(2));
  const std::uint32_t way = dice.below(10);
  plan.waiting = way < 4 ? Waiting::pushed : way < 8 ? Waiting::watched : Waiting::polled;
  plan.lazy_expiry = dice.chance(250);
  plan.session_leases = plan.waiting != Waiting::polled && dice.chance(session_per_mille);
  plan.keeps_mutexes = dice.chance(500);
  plan.local_turns = dice.chance(150) ? 0 : dice.chance(300) ? 1 + dice.below(4) : 64;
  plan.poll_interval = dice.between(milliseconds(10), milliseconds(50));
  plan.connect_timeout = dice.between(milliseconds(100), milliseconds(1000));
  const auto ppm = [&] { return static_cast<std::int32_t>(dice.below(10'001)) - 5'000; };
  plan.store_ppm = ppm();
  for (std::size_t i = 0; i < plan.clients; ++i) plan.client_ppm.push_back(ppm());

  std::array<std::uint32_t, 8> threads = {};
  for (std::uint32_t& count : threads) count = dice.chance(150) ? 8 : 1 + dice.below(4);
  const std::uint32_t hot = 350 + 100 * dice.below(6);
  const milliseconds common_ttl = dice.chance(600) ? milliseconds(100) : milliseconds(200);
  plan.turns.reserve(fewest_turns + 20);
  for (std::uint32_t count = fewest_turns + dice.below(20); count > 0; --count) {
    Turn turn = make_turn(dice, plan, hot, common_ttl);
    turn.thread = static_cast<std::uint8_t>(dice.below(threads[turn.client]));
    plan.turns.push_back(turn);
  }
  for (std::uint32_t count = 5 + dice.below(4); count > 0; --count) plan.faults.push_back(make_fault(dice, plan));
  if (dice.chance(300)) add_burst(dice, plan, FaultKind::crash);
  if (dice.chance(100)) add_burst(dice, plan, FaultKind::pause);
  // From dice of their own: without them, a seed gives the plan with nothing but mutexes that it always gave.
  Dice of_modes(seed, 0x40DE5, 0);
  if (of_modes.chance(modes_per_mille)) add_modes(of_modes, plan);
  return plan;
}

}  // namespace holdfast::sim
