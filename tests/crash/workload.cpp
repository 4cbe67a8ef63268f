#include "crash/workload.hpp"

#include <memory>
#include <stdexcept>

#include "crash/bare_sqlite.hpp"

namespace holdfast::crash {
namespace {

using Standing = spi::ClaimAnswer::Standing;

void expect(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(std::string("the workload failed: ") + what);
}

}  // namespace

void take_turns(StoreClient& first, StoreClient* second, const char* name, Ledger& ledger) {
  const spi::ClaimAnswer grant = first.acquire(name, 1);
  expect(grant.standing == Standing::granted, "a free lock was not granted");
  ledger.granted(grant.number);
  if (second == nullptr) return first.release(name, 1);
  expect(second->acquire(name, 2, spi::WhenBusy::wait).standing == Standing::waiting, "a lock has two holders");
  expect(first.renew(name, 1).standing == Standing::granted, "a lock that was held could not be renewed");
  first.release(name, 1);
  const spi::ClaimAnswer next = second->renew(name, 2);
  expect(next.standing == Standing::granted, "a lock was not handed over");
  ledger.granted(next.number);
  second->release(name, 2);
}

void write_register(StoreClient& client, Ledger& ledger, const std::string& name, const spi::Versioned& found,
                    std::size_t size) {
  spi::Versioned next = {.value = {}, .version = found.version + 1};
  if (name == counter_name) {
    next.value = std::to_string((found.value.empty() ? 0 : std::stoll(found.value)) + 7);
  } else {
    next.value = name + std::to_string(next.version) + std::string(size + next.version * 977 % 5000, '.');
  }
  ledger.asks(name, next);
  for (bool done = false; !done;) {
    try {
      const bool right = name == counter_name ? std::to_string(client.add(name, 7)) == next.value
                                              : client.write_if(name, found.version, next.value).written;
      expect(right, "a register does not hold what was written");
      done = true;
    } catch (const Error& error) {
      if (error.errc() != Errc::in_doubt) throw;
      client.settle();
      done = client.read(name).version == next.version;
    }
  }
  ledger.acknowledged();
}

void work(const std::filesystem::path& database, const Boots& boots, Ledger& ledger, int rounds) {
  using std::chrono::hours;
  auto one = std::make_unique<StoreClient>(database, boots.machine());
  auto other = std::make_unique<StoreClient>(database, boots.machine());
  BareSqlite checkpoints(database);  // as the store makes them when its log is long
  for (int round = 0; round < rounds; ++round) {
    take_turns(*one, round % 2 == 0 ? other.get() : nullptr, lock_names[round % 3], ledger);
    if (round % 2 == 1) {
      const char* name = register_names[round / 2 % 3];
      write_register(*one, ledger, name, other->read(name));
    }
    if (round % 8 == 7) {
      Boots::skip(hours(round % 16 == 7 ? 13 : 25));  // numbers are reserved in advance, or just in time
      ledger.clock_was_set();
    }
    if (round % 10 == 5) checkpoints.query("PRAGMA wal_checkpoint(PASSIVE)");
    if (round % 20 == 19) checkpoints.query("PRAGMA wal_checkpoint(TRUNCATE)");
    if (round == 20) other = std::make_unique<StoreClient>(database, boots.machine());
    std::swap(one, other);
  }
}

}  // namespace holdfast::crash
