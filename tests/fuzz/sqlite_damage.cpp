#include "fuzz/sqlite_damage.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/sqlite/database.hpp"
#include "backends/sqlite/failures.hpp"
#include "fuzz/targets.hpp"
#include "support/temporary_directory.hpp"

// Each damage is five bytes:
//   what     bit 0: the file, database or log; bits 1 and 2: set a byte, flip bits, fill a page, cut the file off
//   where    three bytes, modulo the size of the file; a page is the one around it
//   value    of the byte, of the bits, or of the whole page
// The first client stays connected meanwhile: nobody else builds the log's index anew, as it would be if a holder
// lived.

namespace holdfast::fuzz {
namespace {

using namespace std::chrono_literals;
using spi::ClaimAnswer;
using spi::ClaimId;
using sqlite::ClientNumber;
using sqlite::Database;
using sqlite::ForkGate;
using sqlite::StoreLogic;

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t most_damages = 64;
constexpr auto lease = std::chrono::hours(24 * 20);

const LockName held = "held";
const LockName pool = "pool";
const LockName read = "read";
const LockName unused = "unused";
constexpr ClaimId holder_id{1, 1};
constexpr ClaimId pool_id{1, 2};

sqlite::Machine machine() { return {.boot_id = "fuzz"}; }

/// One transaction, as the backend runs it.
template <class Step>
auto transact(Database& database, Step step) {
  const ForkGate::Use use;
  Database::Session& session = database.session();
  sqlite::Transaction transaction(session.begin, session.commit, *session.connection);
  session.store.start();
  auto result = step(session.store);
  database.numbers().let_the_clock_pass();
  transaction.commit();
  return result;
}

struct Files {
  std::string database;
  std::string log;
};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The world in which all of it happens: a store in memory, and what its files were before.
class World {
 public:
  static World& get(StoreSize size) {
    static World small(0);
    if (size == StoreSize::small) return small;
    static World large(4000);
    require(large.files(false).database.size() > std::size_t{256} * page_bytes, "it is large");
    return large;
  }

  const std::string& path() const { return path_; }
  ClientNumber holder() const { return holder_; }
  const Files& files(bool in_log) const { return in_log ? in_log_ : in_database_; }

 private:
  /// With so many locks of others.
  explicit World(int others) {
    Database database(path_, machine());
    holder_ = transact(database, [&](StoreLogic& store) { return fill(store, database.lifelines()); });
    transact(database, [&](StoreLogic& store) { return add(store, others); });
    in_log_ = {content_of(path_), content_of(path_ + "-wal")};
    {
      const ForkGate::Use use;
      database.session().connection->execute("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    in_database_ = {content_of(path_), content_of(path_ + "-wal")};
  }

  static void join(StoreLogic& store, ClientNumber client, const LockName& name, ClaimId id, spi::Mode mode) {
    const auto standing = store.acquire({.name = name, .id = id, .mode = mode, .lease = lease}, client);
    require(standing.ok(), "the store is filled");
  }

  /// A holder of several things, and others that have died in line.
  static ClientNumber fill(StoreLogic& store, sqlite::Lifelines& lifelines) {
    const ClientNumber self = store.new_number();
    require(lifelines.take(self), "the holder lives");
    const ClientNumber dead = store.new_number();
    store.enroll(self, {.id = "holder", .host = "host", .pid = 1, .command = "command", .label = "label"});
    store.enroll(dead, {.id = "dead", .host = "host", .pid = 2, .command = "command", .label = "label"});
    join(store, self, held, holder_id, {});
    join(store, self, pool, pool_id, {ClaimMode::permits, 2, 3});
    for (std::uint64_t i = 0; i < 8; ++i) {
      join(store, dead, held, {2, i}, {});
      join(store, dead, pool, {3, i}, {ClaimMode::permits, 2, 3});
      join(store, i % 2 == 0 ? self : dead, read, {4, i}, {ClaimMode::shared});
      join(store, dead, LockName("name " + std::to_string(i)), {5, i}, {});
    }
    std::vector<sqlite::Notice> notices;
    for (const char* name : {"a", "b"}) require(store.registers().write_if(name, 0, "value", notices).ok(), "written");
    return self;
  }

  /// Their names and reasons are long, and lie between those that matter.
  static int add(StoreLogic& store, int others) {
    const ClientNumber other = store.new_number();
    store.enroll(other, {.id = "other", .host = "host", .pid = 3, .command = "command", .label = "label"});
    for (int i = 0; i < others; ++i) {
      const char first = "abchijqr"[i % 8];
      const LockName name(first + std::string(400, 'x') + std::to_string(i));
      join(store, other, name, {6, static_cast<std::uint64_t>(i)}, {});
    }
    return others;
  }

  const test::TemporaryDirectory directory_{test::memory_directory()};
  const std::string path_ = (directory_.path() / "locks.db").string();
  ClientNumber holder_ = 0;
  Files in_log_;
  Files in_database_;
};

/// The two files of the store. They stay open while connections exist: closing one would drop SQLite's locks.
class OpenFiles {
 public:
  explicit OpenFiles(const std::string& path)
      : files_{base::FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)),
               base::FileDescriptor(::open((path + "-wal").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600))} {}

  void fill(const Files& content) {
    const std::array<const std::string*, 2> contents = {&content.database, &content.log};
    for (std::size_t i = 0; i < files_.size(); ++i) {
      require(::ftruncate(files_[i].get(), 0) == 0, "cut off");
      put(i, 0, *contents[i]);
    }
  }

  void damage(std::string_view damage) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(damage[i]); };
    const std::size_t file = byte(0) % 2U;
    struct stat status{};
    require(::fstat(files_[file].get(), &status) == 0, "looked at");
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) return;
    const std::size_t at =
        (byte(1) | static_cast<std::size_t>(byte(2)) << 8U | static_cast<std::size_t>(byte(3)) << 16U) % size;
    switch (byte(0) / 2U % 4U) {
      case 0: return put(file, at, std::string(1, damage[4]));
      case 1: {
        char was = 0;
        require(::pread(files_[file].get(), &was, 1, static_cast<off_t>(at)) == 1, "read");
        return put(file, at, std::string(1, static_cast<char>(was ^ damage[4])));
      }
      case 2: {
        const std::size_t page = at / page_bytes * page_bytes;
        return put(file, page, std::string(std::min(page_bytes, size - page), damage[4]));
      }
      default: require(::ftruncate(files_[file].get(), static_cast<off_t>(at)) == 0, "cut off");
    }
  }

 private:
  void put(std::size_t file, std::size_t at, const std::string& bytes) {
    const ssize_t size = ::pwrite(files_[file].get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    require(size == static_cast<ssize_t>(bytes.size()), "written");
  }

  std::array<base::FileDescriptor, 2> files_;
};

/// Runs one step, and notes how it ended.
template <class Step>
void attempt(Outcome& outcome, Step step) {
  try {
    step();
    ++outcome.worked;
  } catch (const sqlite::SqlFailure& failure) {
    require(!sqlite::explain(failure, "file").detail.empty(), "an error says what is wrong");
    ++outcome.refused;
  } catch (const sqlite::Refusal& refusal) {
    require(!refusal.failure().detail.empty(), "an error says what is wrong");
    ++outcome.refused;
  } catch (const sqlite::ReservationNeeded&) {
    ++outcome.refused;
  }
}

bool is_granted(const spi::Result<sqlite::ClaimState>& standing) {
  return standing.ok() && standing.value().answer.standing == ClaimAnswer::Standing::granted;
}

void visit(Database& database, ClientNumber self, Outcome& outcome) {
  const auto lock = [&](const LockName& name, ClaimId id, spi::Mode mode, spi::WhenBusy when_busy) {
    bool granted = false;
    attempt(outcome, [&] {
      granted = is_granted(transact(database, [&](StoreLogic& store) {
        return store.acquire({.name = name, .id = id, .mode = mode, .lease = 10s, .when_busy = when_busy}, self);
      }));
    });
    return granted;
  };
  attempt(outcome, [&] { transact(database, [](StoreLogic& store) { return store.list("").size(); }); });
  attempt(outcome, [&] { transact(database, [](StoreLogic& store) { return store.bury_some().size(); }); });
  outcome.wrong_grants += lock(held, {9, 1}, {}, spi::WhenBusy::refuse) ? 1U : 0U;
  outcome.wrong_grants += lock(held, {9, 2}, {}, spi::WhenBusy::wait) ? 1U : 0U;
  outcome.wrong_grants += lock(pool, {9, 3}, {ClaimMode::permits, 2, 3}, spi::WhenBusy::refuse) ? 1U : 0U;
  outcome.wrong_grants += lock(read, {9, 4}, {}, spi::WhenBusy::wait) ? 1U : 0U;
  lock(read, {9, 5}, {ClaimMode::shared}, spi::WhenBusy::wait);
  lock(unused, {9, 6}, {}, spi::WhenBusy::wait);
  for (const auto& [name, id] : {std::pair(&held, 2), std::pair(&read, 4), std::pair(&unused, 6)}) {
    const spi::ClaimRef ref{.name = *name, .kind = LockKind::lock, .id = {9, static_cast<std::uint64_t>(id)}};
    attempt(outcome, [&] { transact(database, [&](StoreLogic& store) { return store.release(ref); }); });
  }
  attempt(outcome, [&] { transact(database, [](StoreLogic& store) { return store.registers().read("a").version; }); });
}

}  // namespace

Outcome play_with_damages(std::string_view damages, StoreSize size) {
  World& world = World::get(size);
  Outcome outcome;
  OpenFiles files(world.path());
  files.fill(world.files(!damages.empty() && damages[0] % 2 != 0));
  Database first(world.path(), machine());
  {
    const ForkGate::Use use;
    require(first.lifelines().take(world.holder()), "the holder lives");
  }
  const auto renew = [&] {
    transact(first, [](StoreLogic& store) {
      return store.renew({.name = held, .kind = LockKind::lock, .id = holder_id, .lease = lease});
    });
  };
  renew();
  if (!damages.empty()) damages.remove_prefix(1);
  for (std::size_t i = 0; i < most_damages && damages.size() >= 5; ++i, damages.remove_prefix(5)) {
    files.damage(damages.substr(0, 5));
  }
  std::unique_ptr<Database> second;
  attempt(outcome, [&] { second = std::make_unique<Database>(world.path(), machine()); });
  if (second) visit(*second, world.holder() + 100, outcome);
  attempt(outcome, renew);
  attempt(outcome, [&] {
    transact(first,
             [](StoreLogic& store) { return store.release({.name = held, .kind = LockKind::lock, .id = holder_id}); });
  });
  {
    const ForkGate::Use use;
    first.lifelines().drop(world.holder());
  }
  return outcome;
}

void sqlite_file(std::string_view input) {
  require(play_with_damages(input, StoreSize::small).wrong_grants == 0, "nobody is granted what somebody else holds");
}

}  // namespace holdfast::fuzz
