#include "sim/operations_world.hpp"

#include <algorithm>
#include <map>
#include <utility>

// Requests and replies are closures that happen later, or never. What a client cannot know (a lost request, a lost
// reply, one that is late) fails with in_doubt when its patience is over, and may be executed all the same, even later.

namespace holdfast::sim {

using spi::ClaimAnswer;
using spi::Done;
using spi::Failure;
using spi::Result;

namespace {

constexpr microseconds shortest_delay{50};
constexpr microseconds longest_delay{1500};
constexpr microseconds refusal_takes{200};
constexpr milliseconds close_timeout{500};

core::EngineOptions options_for(std::uint32_t number, Dice& dice) {
  core::EngineOptions options;
  options.identity.host = "host" + std::to_string(number);
  options.seed = {dice.next(), dice.next(), dice.next(), dice.next()};
  return options;
}

}  // namespace

class OperationsClient::Connection final : public spi::Backend,
                                           private spi::Claims,
                                           private spi::Registers,
                                           private spi::Administration {
 public:
  explicit Connection(OperationsClient& client)
      : client_(client), world_(client.world_), watches_(client.loop_, [](const LockName&) {}) {}

  spi::Claims& claims() override { return *this; }
  spi::Registers& registers() override { return *this; }
  spi::Administration& administration() override { return *this; }
  StoreTraits traits() const override { return {.store = "simulation", .has_clock = true, .fifo = true}; }
  void close(Done<> done) override {
    closed_ = true;
    watches_.close({Errc::closed, "simulated"});
    for (auto& [number, fail] : std::exchange(unanswered_, {})) fail(Failure{Errc::closed, "simulated"});
    client_.loop_.defer([done = std::move(done)]() mutable { done(spi::Nothing{}); });
  }

  std::size_t unanswered() const { return unanswered_.size(); }
  void told(const memory::Event& event) {
    if (closed_) return;
    if (event.kind == memory::Event::Kind::changed) return watches_.changed(event.name);
    if (event.kind == memory::Event::Kind::check) return client_.engine_.check(event.name, event.line, event.id);
    client_.engine_.granted(event.name, event.line, event.id, event.answer);
  }

 private:
  enum class About { claims, values, sums };

  /// Sends what `execute` does in the store. `done` is called once: with its result, or with why it is not known.
  template <class T, class Execute>
  void call(Done<T> done, About about, Duration patience, Execute execute) {
    ++world_.counters.requests;
    const std::uint64_t number = ++requests_;
    auto shared = std::make_shared<Done<T>>(std::move(done));
    unanswered_[number] = [shared](const Failure& why) { (*shared)(why); };
    const auto answer = [this, number, shared](Result<T> result) {
      if (unanswered_.erase(number) > 0) (*shared)(std::move(result));
    };
    Dice& dice = world_.dice_;
    const bool troubled = world_.faulty() && dice.chance(world_.trouble_);
    const std::uint32_t how = dice.below(5);
    const Moment now = world_.now();
    if (client_.dead_ || (troubled && how == 0)) {
      ++world_.counters.refused;
      return later(now + refusal_takes, [answer] { answer(Failure{Errc::unreachable, "simulated"}); });
    }
    later(now + patience, [this, number, answer] {
      if (!unanswered_.contains(number)) return;
      ++world_.counters.in_doubt;
      answer(Failure{Errc::in_doubt, "simulated"});
    });
    const bool ordered = about == About::claims && !world_.unordered_claims;
    if (troubled && (how == 1 || (how == 2 && ordered))) return;
    Moment arrives = now + dice.between(shortest_delay, longest_delay);
    if (troubled && how == 2) arrives += dice.between(milliseconds(0), OperationsWorld::longest_lateness);
    const bool lost = troubled && how == 3;
    world_.at(arrives, [this, execute, answer, lost] {
      Result<T> result = execute();
      world_.tell();
      if (lost) return;
      const Moment back = world_.now() + world_.dice_.between(shortest_delay, longest_delay);
      later(back, [answer, result = std::move(result)]() mutable { answer(std::move(result)); });
    });
    const bool repeatable = about == About::sums ? world_.mistakes.repeats_adds : !ordered;
    if (troubled && how == 4 && repeatable) {
      ++world_.counters.repeated;
      world_.at(arrives + dice.between(milliseconds(0), OperationsWorld::longest_lateness), [this, execute] {
        execute();
        world_.tell();
      });
    }
  }
  void later(Moment moment, base::Task task) {
    world_.at(moment, [this, task = std::move(task)]() mutable { client_.deliver(std::move(task)); });
  }

  void acquire(const spi::ClaimRequest& request, Done<ClaimAnswer> done) override {
    struct Kept {
      LockName name;
      spi::ClaimId id;
      spi::Mode mode;
      milliseconds lease;
      spi::WhenBusy when_busy;
      std::optional<spi::ClaimId> replaces;
      std::shared_ptr<const ClientIdentity> client;
    };
    auto kept = std::make_shared<Kept>(Kept{request.name, request.id, request.mode, request.lease, request.when_busy,
                                            request.replaces, request.client});
    const Instant sent = client_.loop_.now();
    call<ClaimAnswer>(std::move(done), About::claims, spi::patience(request.lease), [this, kept, sent] {
      auto answer = world_.store_.acquire({.name = kept->name,
                                           .id = kept->id,
                                           .mode = kept->mode,
                                           .lease = kept->lease,
                                           .when_busy = kept->when_busy,
                                           .replaces = kept->replaces,
                                           .client = kept->client},
                                          client_.number_, world_.store_now());
      if (answer.ok()) prove(answer.value(), sent);
      return answer;
    });
  }
  void release(const spi::ClaimRef& claim, Done<bool> done) override {
    call<bool>(std::move(done), About::claims, spi::patience(claim.lease),
               [this, name = claim.name, kind = claim.kind, id = claim.id] {
                 return Result<bool>(world_.store_.release({name, kind, id, {}}, world_.store_now()));
               });
  }
  void renew(std::span<const spi::ClaimRef> claims, Done<std::vector<ClaimAnswer>> done) override {
    struct Kept {
      LockName name;
      LockKind kind;
      spi::ClaimId id;
      milliseconds lease;
    };
    std::vector<Kept> kept;
    milliseconds shortest = milliseconds::max();
    for (const spi::ClaimRef& claim : claims) {
      kept.push_back({claim.name, claim.kind, claim.id, claim.lease});
      shortest = std::min(shortest, claim.lease);
    }
    const Instant sent = client_.loop_.now();
    call<std::vector<ClaimAnswer>>(std::move(done), About::claims, spi::patience(shortest), [this, kept, sent] {
      std::vector<ClaimAnswer> answers;
      for (const Kept& each : kept) {
        answers.push_back(world_.store_.renew({each.name, each.kind, each.id, each.lease}, world_.store_now()));
        prove(answers.back(), sent);
      }
      return Result<std::vector<ClaimAnswer>>(std::move(answers));
    });
  }
  void downgrade(const spi::ClaimRef& /*claim*/, Done<ClaimAnswer> done) override { refuse(std::move(done)); }

  void read(const LockName& name, Done<spi::Versioned> done) override {
    call<spi::Versioned>(std::move(done), About::values, spi::longest_patience,
                         [this, name] { return Result<spi::Versioned>(world_.store_.registers().read(name)); });
  }
  void write_if(const LockName& name, std::uint64_t expected, std::string value, Done<WriteAnswer> done) override {
    call<WriteAnswer>(std::move(done), About::values, spi::longest_patience,
                      [this, name, expected, value = std::move(value)] {
                        memory::RegisterTable& registers = world_.store_.registers();
                        const bool blind = world_.mistakes.ignores_version;
                        return registers.write_if(name, blind ? registers.read(name).version : expected, value);
                      });
  }
  void add(const LockName& name, std::int64_t amount, Done<std::int64_t> done) override {
    call<std::int64_t>(std::move(done), About::sums, spi::longest_patience,
                       [this, name, amount] { return world_.store_.registers().add(name, amount); });
  }
  void watch(const LockName& name, std::uint64_t seen, Done<> done) override {
    watches_.add(name, std::move(done));
    if (client_.dead_ || (world_.faulty() && world_.dice_.chance(world_.trouble_))) return;
    world_.at(world_.now() + world_.dice_.between(shortest_delay, longest_delay), [this, name, seen] {
      const bool changed = world_.store_.registers().watch(client_.number_, name, seen);
      if (changed) later(world_.now() + shortest_delay, [this, name] { watches_.changed(name); });
    });
  }

  void show(const LockName& name, LockKind kind, Done<std::optional<LockStatus>> done) override {
    call<std::optional<LockStatus>>(std::move(done), About::values, spi::longest_patience, [this, name, kind] {
      auto found = world_.store_.show(name, kind, world_.store_now(), world_.wall());
      if (found && world_.mistakes.shows_the_dead) add_the_dead(*found);
      return Result<std::optional<LockStatus>>(std::move(found));
    });
  }
  /// As if permits did not come back: whoever was ever seen holding is still there.
  void add_the_dead(LockStatus& lock) {
    auto& ever = world_.holders_ever_[lock.name];
    for (const ClaimStatus& holder : lock.holders) ever.emplace(holder.number, holder);
    lock.holders.clear();
    for (const auto& [number, holder] : ever) lock.holders.push_back(holder);
  }
  void list(std::string_view /*prefix*/, Done<std::vector<LockStatus>> done) override { refuse(std::move(done)); }
  void evict(const LockName& /*name*/, LockKind /*kind*/, std::uint64_t /*up_to*/, Done<std::size_t> done) override {
    refuse(std::move(done));
  }
  void ask_to_release(const LockName& /*name*/, LockKind /*kind*/, const ReleaseRequest& /*request*/,
                      Done<std::size_t> done) override {
    refuse(std::move(done));
  }
  void resize(const LockName& /*name*/, std::uint32_t /*total*/, Done<bool> done) override { refuse(std::move(done)); }
  void now(Done<std::chrono::system_clock::time_point> done) override {
    using WallTime = std::chrono::system_clock::time_point;
    call<WallTime>(std::move(done), About::values, spi::longest_patience,
                   [this] { return Result<WallTime>(world_.wall()); });
  }

  template <class T>
  void refuse(Done<T> done) {
    client_.loop_.defer([done = std::move(done)]() mutable { done(Failure{Errc::unsupported, "not simulated"}); });
  }
  static void prove(ClaimAnswer& answer, Instant sent) {
    if (answer.standing != ClaimAnswer::Standing::absent) answer.armed_at = sent;
  }

  OperationsClient& client_;
  OperationsWorld& world_;
  kit::RegisterWatches watches_;
  std::map<std::uint64_t, base::Callback<void(const Failure&)>> unanswered_;
  std::uint64_t requests_ = 0;
  bool closed_ = false;
};

OperationsClient::OperationsClient(OperationsWorld& world, std::uint32_t number)
    : world_(world),
      number_(number),
      loop_(world.timeline_,
            Clock(std::chrono::seconds(1 + number), static_cast<int>(world.dice_.below(10'001)) - 5'000)),
      engine_(loop_, *this, options_for(number, world.dice_)) {
  auto connection = std::make_unique<Connection>(*this);
  connection_ = connection.get();
  engine_.attach(std::move(connection));
}

OperationsClient::~OperationsClient() = default;

void OperationsClient::run_due() {
  loop_.run_due();
  loop_.drain();
}

void OperationsClient::deliver(base::Task task) {
  if (paused_ || (dead_ && !buried_)) return delayed_.push_back(std::move(task));
  task();
  loop_.drain();
}

void OperationsClient::resume() {
  paused_ = false;
  run_due();
  for (base::Task& task : std::exchange(delayed_, {})) deliver(std::move(task));
}

void OperationsClient::close() {
  buried_ = dead_;
  paused_ = false;
  delayed_.clear();
  engine_.close(close_timeout, [this] { closed_ = true; });
  loop_.drain();
}

std::size_t OperationsClient::left_over() const {
  return engine_.cells() + loop_.armed_timers() + static_cast<std::size_t>(loop_.expectations()) +
         connection_->unanswered() + const_cast<core::Engine&>(engine_).callers().size();
}

OperationsWorld::OperationsWorld(std::uint64_t seed, std::size_t clients, const OperationsMistakes& its_mistakes)
    : mistakes(its_mistakes),
      dice_(seed),
      trouble_(dice_.chance(200) ? 0 : 50 + dice_.below(350)),
      store_clock_(std::chrono::seconds(100), static_cast<int>(dice_.below(10'001)) - 5'000) {
  for (std::uint32_t number = 0; number < clients; ++number) clients_.emplace_back(*this, number);
}

OperationsWorld::~OperationsWorld() = default;

void OperationsWorld::at(Moment moment, base::Task task) {
  timeline_.queue.add(std::max(moment, timeline_.now), EventQueue::Kind::request,
                      static_cast<std::uint32_t>(tasks_.size()));
  tasks_.push_back(std::move(task));
}

bool OperationsWorld::run_until_quiet(Duration at_most) {
  const Moment end = timeline_.now + at_most;
  for (;;) {
    Moment at = timeline_.queue.next();
    OperationsClient* who = nullptr;
    for (OperationsClient& client : clients_) {
      if (client.next() >= at) continue;
      at = client.next();
      who = &client;
    }
    const Instant expiry = store_.next_expiry();
    const Moment expires = expiry == Instant::max() ? never : store_clock_.when(expiry);
    if (at == never && expires == never) return true;
    if (std::min(at, expires) > end) return false;
    timeline_.now = std::max(timeline_.now, std::min(at, expires));
    if (expires <= at) {
      store_.advance(store_now());
      tell();
    } else if (who != nullptr) {
      who->run_due();
    } else {
      auto task = std::move(tasks_[timeline_.queue.take().subject]);
      task();
    }
  }
}

void OperationsWorld::tell() {
  for (memory::Event& event : store_.take_events()) {
    OperationsClient& client = clients_[event.client];
    if (client.dead_ || (faulty() && dice_.chance(trouble_ / 2))) continue;
    at(timeline_.now + dice_.between(shortest_delay, longest_delay),
       [&client, event = std::move(event)] { client.deliver([&client, event] { client.connection_->told(event); }); });
  }
}

}  // namespace holdfast::sim
