#include "core/operations/election_steps.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/operations/fields.hpp"
#include "core/operations/parts.hpp"
#include "core/operations/store_requests.hpp"
#include "spi/part_name.hpp"

namespace holdfast::core {

using spi::Failure;
using spi::Nothing;

namespace {

constexpr auto pause_after_failure = std::chrono::milliseconds(50);

/// What one leader said. The number is the store's, of its grant; the sequence counts all publications of the election.
struct Publication {
  std::uint64_t sequence = 0;
  std::uint64_t number = 0;
  Leader leader = {};
};

/// The last ones, oldest first.
struct Publications {
  std::vector<Publication> list = {};
  std::uint64_t version = 0;

  const Publication* newest() const { return list.empty() ? nullptr : &list.back(); }
  std::uint64_t last_sequence() const { return list.empty() ? 0 : list.back().sequence; }
  bool has_since(std::uint64_t sequence, const Leader& leader) const {
    return std::ranges::any_of(list,
                               [&](const Publication& one) { return one.sequence > sequence && one.leader == leader; });
  }
};

LockName lock_of(const LockName& name) { return spi::PartName::of(name, election_part); }
LockName register_of(const LockName& name) { return spi::PartName::of(name, leader_part); }

spi::Result<Publications> parsed(const spi::Versioned& stored) {
  constexpr std::size_t fields_each = 4;
  Publications publications{.version = stored.version};
  const Failure corrupt{Errc::store_failed, "what the store has under this name is not an election"};
  const auto fields = from_record(stored.value);
  if (!fields || fields->size() % fields_each != 0) return corrupt;
  for (std::size_t at = 0; at < fields->size(); at += fields_each) {
    const auto sequence = to_number<std::uint64_t>((*fields)[at]);
    const auto number = to_number<std::uint64_t>((*fields)[at + 1]);
    const auto term = to_number<std::uint64_t>((*fields)[at + 2]);
    if (!sequence || !number || !term) return corrupt;
    publications.list.push_back({*sequence, *number, {(*fields)[at + 3], Token(*term)}});
  }
  return publications;
}

std::string to_text(const Publications& publications) {
  std::vector<std::string> fields;
  for (const auto& [sequence, number, leader] : publications.list) {
    fields.insert(fields.end(),
                  {std::to_string(sequence), std::to_string(number), to_string(leader.term), leader.value});
  }
  return to_record(fields);
}

Operation<Publications> read_publications(Caller& caller, LockName name, Persistence persistence) {
  spi::Result<spi::Versioned> stored = co_await read(caller, register_of(name), persistence);
  if (!stored.ok()) co_return std::move(stored.failure());
  co_return parsed(stored.value());
}

/// With a new one; those that do not fit any more are forgotten, the oldest first.
std::string with(Publications publications, Publication added, std::size_t max_bytes) {
  publications.list.push_back(std::move(added));
  for (;;) {
    std::string text = to_text(publications);
    const bool fits =
        publications.list.size() <= remembered_publications && (text.size() <= max_bytes || max_bytes == 0);
    if (fits || publications.list.size() == 1) return text;
    publications.list.erase(publications.list.begin());
  }
}

/// The store's number of who leads; 0 if nobody does.
Operation<std::uint64_t> leading_number(Caller& caller, LockName lock, Persistence persistence) {
  auto status = co_await show(caller, std::move(lock), LockKind::lock, persistence);
  if (!status.ok()) co_return std::move(status.failure());
  const bool leads = status.value() && !status.value()->holders.empty();
  co_return leads ? status.value()->number : std::uint64_t{0};
}

}  // namespace

Operation<Nothing> publish(Caller& caller, LockName name, std::shared_ptr<HoldRecord> leadership, std::string value) {
  const Failure lost{Errc::lost, "it does not lead any more"};
  const Engine& engine = caller.engine();
  std::optional<std::uint64_t> before;  // what had been published when this began
  for (;;) {
    if (leadership->group() == nullptr) co_return lost;
    if (caller.interrupted()) co_return *caller.interrupted();
    const std::uint64_t number = leadership->group()->claim.number();
    spi::Result<Publications> now = co_await read_publications(caller, name, Persistence::until_contact);
    std::optional<Failure> failure;
    if (now.ok()) {
      const Publication* const newest = now.value().newest();
      const Leader mine{value, leadership->token};
      if (newest != nullptr && newest->leader.term > mine.term) co_return lost;
      if (newest != nullptr && newest->leader == mine) co_return Nothing{};
      if (!before) before = now.value().last_sequence();
      if (now.value().has_since(*before, mine)) co_return Nothing{};  // it was in doubt, and was written
      const std::uint64_t sequence = now.value().last_sequence() + 1;
      const std::uint64_t version = now.value().version;
      std::string text = with(std::move(now.value()), {sequence, number, mine}, engine.traits().max_value_bytes);
      spi::Result<spi::Registers::WriteAnswer> answer =
          co_await write_if(caller, register_of(name), version, std::move(text));
      if (answer.ok() && answer.value().written) co_return Nothing{};
      if (answer.ok()) continue;
      failure = std::move(answer.failure());  // in doubt: the next look tells, and a late write fails by its version
    } else {
      failure = std::move(now.failure());
    }
    if (!spi::is_retryable(failure->code) || !engine.contacted()) co_return *std::move(failure);
    co_await caller.nap_for(pause_after_failure);
    if (auto why = caller.why_end()) co_return *why;
  }
}

Operation<std::shared_ptr<HoldRecord>> campaign(Caller& caller, LockName name, std::string value, LockOptions options,
                                                spi::WhenBusy when_busy) {
  if (auto why = why_no_registers(caller)) co_return *std::move(why);
  const KeptCell cell(caller.engine().cell(lock_of(name)));
  for (;;) {
    Request::Answer elected = co_await caller.acquire(*cell, options, {}, when_busy);
    if (!elected.ok()) co_return elected;
    const std::shared_ptr<HoldRecord> leadership = elected.value();
    spi::Result<Nothing> published = co_await publish(caller, name, leadership, value);
    if (published.ok() && leadership->group() != nullptr) co_return leadership;
    cell->release(*leadership);
    if (!published.ok() && published.failure().code != Errc::lost) co_return std::move(published.failure());
    // It was lost in between: stands in line again.
    if (auto why = caller.why_end()) co_return *std::move(why);
  }
}

Operation<std::optional<Leader>> current_leader(Caller& caller, LockName name) {
  for (;;) {
    spi::Result<std::uint64_t> number = co_await leading_number(caller, lock_of(name), Persistence::until_contact);
    if (!number.ok()) co_return std::move(number.failure());
    if (number.value() == 0) co_return std::optional<Leader>();
    spi::Result<Publications> now = co_await read_publications(caller, name, Persistence::until_contact);
    if (!now.ok()) co_return std::move(now.failure());
    const Publication* const newest = now.value().newest();
    const std::uint64_t published = newest == nullptr ? 0 : newest->number;
    if (published == number.value()) co_return std::optional<Leader>(newest->leader);
    if (published < number.value()) co_return std::optional<Leader>();  // elected, and about to say so
    // Somebody else was elected since we asked: asked again.
  }
}

Operation<Nothing> observe(Caller& caller, LockName name, base::Callback<void(Leader)> heard) {
  std::optional<std::uint64_t> seen;
  for (;;) {
    spi::Result<Publications> now = co_await read_publications(caller, name, Persistence::for_ever);
    if (!now.ok()) co_return std::move(now.failure());
    const Publication* const newest = now.value().newest();
    if (!seen) {
      spi::Result<std::uint64_t> leading = co_await leading_number(caller, lock_of(name), Persistence::for_ever);
      if (!leading.ok()) co_return std::move(leading.failure());
      const bool leads = newest != nullptr && newest->number == leading.value();
      seen = newest == nullptr ? 0 : newest->sequence - (leads ? 1 : 0);
    }
    for (const Publication& publication : now.value().list) {
      if (publication.sequence > *seen) heard(publication.leader);
    }
    if (newest != nullptr) seen = newest->sequence;
    co_await nap_until_changed(caller, register_of(name), now.value().version, base::Instant::max());
    if (caller.interrupted()) co_return *caller.interrupted();
  }
}

}  // namespace holdfast::core
