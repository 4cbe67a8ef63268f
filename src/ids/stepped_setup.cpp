// Telling the stores of a Stepped what they are. People do this rarely, and one at a time: all of it happens under a lock
// in every store. Should the lock be lost, compare-and-set keeps two of them from writing over each other, and nobody
// uses a record before all stores have been told (stepped_record.hpp).

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <string>

#include "base/random.hpp"
#include "holdfast/ids/stepped.hpp"
#include "holdfast/multi_lock.hpp"
#include "holdfast/register.hpp"
#include "ids/stepped_record.hpp"

namespace holdfast::ids {
namespace {

using Stage = SteppedRecord::State;

struct Told {
  Client* client = nullptr;
  std::uint64_t version = 0;
  std::optional<SteppedRecord> record = {};

  bool is(Stage state) const { return record && record->state == state; }
};

Error refusal(const LockName& name, const std::string& what) {
  return {Errc::store_failed, "the stores of '" + name.text() + "' " + what};
}

Told read(Client& client, const LockName& name) {
  const Versioned now = Register(client, record_register(name)).get();
  Told told = {.client = &client, .version = now.version};
  if (now.version == 0) return told;
  told.record = stepped_record_in(now.value);
  if (!told.record) throw refusal(name, "cannot be set up: one has a record that is none of a Stepped");
  return told;
}

void tell(Told& told, const LockName& name, SteppedRecord record) {
  const Written written = Register(*told.client, record_register(name)).compare_and_set(told.version, to_text(record));
  if (!written) throw refusal(name, "are being set up by somebody else; try again");
  told.version = written.now.version;
  told.record = std::move(record);
}

MultiHold locked(const std::vector<Client*>& stores, const LockName& name) {
  std::vector<MultiLock::Part> parts;
  parts.reserve(stores.size());
  for (Client* const store : stores) parts.push_back({*store, record_register(name)});
  MultiLock lock(parts, {.reason = "setting up the stores of ids"});
  auto hold = lock.try_acquire_for(std::chrono::seconds(30));
  if (!hold) throw Error(Errc::unreachable, "the stores of '" + name.text() + "' are being set up by somebody else");
  return std::move(*hold);
}

std::vector<Client*> pointers(const SteppedStores& stores, const LockName& name) {
  if (stores.empty()) throw Error(Errc::invalid_argument, "'" + name.text() + "' needs at least one store");
  std::vector<Client*> clients;
  for (Client& client : stores) {
    if (std::ranges::find(clients, &client) != clients.end()) {
      throw Error(Errc::invalid_argument, "one store was given twice for '" + name.text() + "'");
    }
    clients.push_back(&client);
  }
  return clients;
}

std::string fresh_set() {
  base::Random random(base::Random::fresh_seed());
  std::array<char, 17> text = {};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(random.next()));
  return text.data();
}

/// Proposes to all, and then opens all.
void tell_all(std::vector<Told>& all, const LockName& name, std::uint64_t epoch, std::uint64_t base) {
  SteppedRecord record = {.epoch = epoch,
                          .stores = static_cast<std::uint32_t>(all.size()),
                          .base = base,
                          .set = fresh_set(),
                          .state = Stage::proposed};
  for (Told& told : all) {
    tell(told, name, record);
    ++record.index;
  }
  for (Told& told : all) {
    SteppedRecord open = *told.record;
    open.state = Stage::open;
    tell(told, name, std::move(open));
  }
}

/// Some records are open already. Opens those that were only proposed, which nobody has used yet.
void complete(std::vector<Told>& all, const LockName& name) {
  const SteppedRecord model = *std::ranges::find_if(all, [](const Told& told) { return told.is(Stage::open); })->record;
  std::vector<bool> taken(model.stores, false);
  const auto belongs = [&](const Told& told) { return told.record && told.record->set == model.set; };
  bool consistent = all.size() == model.stores;
  for (const Told& told : all) {
    if (belongs(told) && consistent) taken.at(told.record->index) = true;
    if (!told.record) throw refusal(name, "remember one that remembers nothing: it has lost its data; call change()");
    if (!belongs(told) && !told.is(Stage::proposed)) consistent = false;
  }
  if (!consistent) {
    throw refusal(name, "were set up with others, as " + std::to_string(model.stores) + " stores in epoch " +
                            std::to_string(model.epoch) + "; to exchange some, call change()");
  }
  for (Told& told : all) {
    if (told.is(Stage::open)) continue;
    SteppedRecord record = model;
    if (belongs(told)) {
      record.index = told.record->index;
    } else {
      const auto free = std::ranges::find(taken, false);
      record.index = static_cast<std::uint32_t>(free - taken.begin());
      *free = true;
    }
    tell(told, name, std::move(record));
  }
}

/// Nobody takes a number from it any more. How far it came.
std::int64_t close_row(Client& client, const LockName& name, std::uint64_t epoch) {
  Register row(client, row_register(name, epoch));
  Versioned now = row.get();
  for (;;) {
    const auto number = now.version == 0 ? std::optional<std::int64_t>(0) : number_of_row(now.value);
    if (!number) throw refusal(name, "cannot be changed: a row is no number");
    const std::string closed = closed_row(*number);
    if (now.value == closed) return *number;
    Written written = row.compare_and_set(now.version, closed);
    if (written) return *number;
    now = std::move(written.now);
  }
}

/// Closes the rows of an epoch. An id above all of those that they have yielded.
std::uint64_t close_all(const std::vector<Told>& from, const LockName& name) {
  const SteppedRecord& model = *from.front().record;
  std::int64_t furthest = 0;
  for (const Told& told : from) furthest = std::max(furthest, close_row(*told.client, name, model.epoch));
  // What a row has forgotten, its witness may know.
  for (const Told& told : from) {
    for (std::uint32_t index = 0; index < model.stores; ++index) {
      const Versioned noted = Register(*told.client, witness_register(name, model.epoch, index)).get();
      furthest = std::max(furthest, number_of_row(noted.value).value_or(0));
    }
  }
  return furthest == 0 ? model.base : model.id_of(furthest) + model.stores;
}

SteppedRecord newest_of(const std::vector<Told>& old, const std::vector<Told>& next) {
  SteppedRecord newest = {.epoch = 0};
  for (const auto* all : {&old, &next}) {
    for (const Told& told : *all) {
      if (told.record && told.record->epoch > newest.epoch) newest = *told.record;
    }
  }
  return newest;
}

}  // namespace

void Stepped::set_up(const SteppedStores& stores, const LockName& name) {
  const std::vector<Client*> clients = pointers(stores, name);
  const MultiHold hold = locked(clients, name);
  std::vector<Told> all;
  all.reserve(clients.size());
  for (Client* const client : clients) all.push_back(read(*client, name));
  const auto any = [&](Stage state) {
    return std::ranges::any_of(all, [=](const Told& told) { return told.is(state); });
  };
  if (any(Stage::retired)) throw refusal(name, "cannot be set up: others have taken the place of one; call change()");
  if (any(Stage::open)) return complete(all, name);
  // What was proposed and never opened may be overwritten. If it belongs to a change, it says where that begins.
  std::uint64_t epoch = 1;
  std::uint64_t base = 0;
  for (const Told& told : all) {
    if (!told.record) continue;
    epoch = std::max(epoch, told.record->epoch);
    base = std::max(base, told.record->base);
  }
  tell_all(all, name, epoch, base);
}

/// A change that was interrupted is recognized by what it has left behind:
///
///     rows closed                          it begins again; closing twice changes nothing
///     some new stores proposed to          the rows are closed: it goes on with telling all of them
///     some of them open, others proposed   it opens the others
///     all of them open                     it retires the stores that are no longer used
void Stepped::change(const SteppedStores& from, const SteppedStores& to, const LockName& name) {
  const std::vector<Client*> old_clients = pointers(from, name);
  const std::vector<Client*> new_clients = pointers(to, name);
  const auto stays = [&](const Client* client) { return std::ranges::find(new_clients, client) != new_clients.end(); };
  std::vector<Client*> both = new_clients;
  std::ranges::copy_if(old_clients, std::back_inserter(both), [&](const Client* client) { return !stays(client); });
  const MultiHold hold = locked(both, name);
  std::vector<Told> old;
  old.reserve(old_clients.size());
  std::vector<Told> next;
  next.reserve(new_clients.size());
  for (Client* const client : old_clients) old.push_back(read(*client, name));
  for (Client* const client : new_clients) next.push_back(read(*client, name));

  const SteppedRecord newest = newest_of(old, next);
  const auto are = [&](const std::vector<Told>& all, Stage state) {
    return std::ranges::count_if(
        all, [&](const Told& told) { return told.is(state) && told.record->epoch == newest.epoch; });
  };
  const auto all_open = [&](const std::vector<Told>& all) {
    return are(all, Stage::open) == std::ssize(all) && newest.stores == all.size();
  };
  const bool was_opening = are(next, Stage::open) > 0 && are(next, Stage::proposed) > 0;
  const bool was_retiring = all_open(next) && !all_open(old);
  if (was_opening) {
    complete(next, name);
  } else if (!was_retiring) {
    const bool was_proposing = are(next, Stage::proposed) > 0 && are(old, Stage::open) == 0;
    if (!was_proposing && !all_open(old)) throw refusal(name, "to leave are not those that were set up together");
    const std::uint64_t epoch = was_proposing ? newest.epoch : newest.epoch + 1;
    tell_all(next, name, epoch, was_proposing ? newest.base : close_all(old, name));
  }
  for (Told& told : old) {
    if (stays(told.client) || told.is(Stage::retired)) continue;
    SteppedRecord record = *told.record;
    record.state = Stage::retired;
    tell(told, name, std::move(record));
  }
}

}  // namespace holdfast::ids
