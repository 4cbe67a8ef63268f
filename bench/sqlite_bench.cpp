#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "rounds.hpp"
#include "scratch.hpp"

// The store in a file: beside the file lock that it replaces, beside the least that SQLite costs, and between
// processes.

namespace holdfast::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A row is inserted and deleted, each in a transaction: what any lock in a SQLite file must do at least.
class BareSqlite {
 public:
  explicit BareSqlite(const std::string& path) {
    if (sqlite3_open(path.c_str(), &database_) != SQLITE_OK) throw std::runtime_error("cannot open " + path);
    sqlite3_exec(database_,
                 "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                 "CREATE TABLE locks (name TEXT PRIMARY KEY, owner TEXT, expires INTEGER, token INTEGER)",
                 nullptr, nullptr, nullptr);
    for (const char* sql : {"BEGIN IMMEDIATE", "INSERT INTO locks VALUES ('bench', 'me', 1, 1)", "COMMIT",
                            "BEGIN IMMEDIATE", "DELETE FROM locks WHERE name = 'bench'", "COMMIT"}) {
      sqlite3_prepare_v2(database_, sql, -1, &steps_.emplace_back(), nullptr);
    }
  }
  ~BareSqlite() {
    for (sqlite3_stmt* step : steps_) sqlite3_finalize(step);
    sqlite3_close(database_);
  }
  BareSqlite(const BareSqlite&) = delete;
  BareSqlite& operator=(const BareSqlite&) = delete;

  void pair() {
    for (sqlite3_stmt* step : steps_) {
      if (sqlite3_step(step) != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(database_));
      sqlite3_reset(step);
    }
  }

 private:
  sqlite3* database_ = nullptr;
  std::vector<sqlite3_stmt*> steps_;
};

double microseconds_each(auto work) {
  constexpr int times = 200;
  return nanoseconds_each(times, work) / 1000;
}

void uncontended(benchmark::State& state) {
  constexpr int rounds = 51;
  const Scratch scratch;
  Client client(scratch.url());
  Mutex mutex(client, "bench");
  BareSqlite bare(scratch.file("bare.db"));
  const int file = ::open(scratch.file("flock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const auto ours = [&] {
    return microseconds_each([&] {
      Hold hold = mutex.acquire();
      hold.release();
    });
  };
  const auto sqlite = [&] { return microseconds_each([&] { bare.pair(); }); };
  const auto flock = [&] {
    return microseconds_each([&] {
      ::flock(file, LOCK_EX);
      ::flock(file, LOCK_UN);
    });
  };
  for (auto _ : state) {
    Figure figure = compare("acquire + release, confirmed", "us", rounds,
                            {{"holdfast", ours}, {"bare SQLite", sqlite}, {"flock(2)", flock}});
    figure.aim = Aim{.of = Aim::Of::ratio, .is = Aim::Is::below, .limit = 3};
    report(state, figure);
  }
  ::close(file);
}
BENCHMARK(uncontended)->Name("sqlite: uncontended pair")->Iterations(1);

/// What processes tell each other while they pass a lock on.
struct Board {
  static constexpr int most = 20'000;
  std::atomic<int> ready = 0;
  std::atomic<int> handed = 0;
  std::atomic<std::int64_t> released_at = 0;
  std::atomic<double> microseconds[most] = {};

  static std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
  void got_it() {
    const int index = handed.fetch_add(1);
    if (index < most) microseconds[index] = static_cast<double>(now() - released_at.load()) / 1000;
  }
};

/// Processes that wait for one lock, which this one holds until all of them do; each takes it `turns` times.
class Fleet {
 public:
  Fleet(const Scratch& scratch, int processes, int turns) : client_(scratch.url()), mutex_(client_, "relay", slow()) {
    void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    board_ = ::new (memory) Board;
    Hold hold = mutex_.acquire();
    for (int i = 0; i < processes; ++i) {
      start(scratch, turns);
      // A few at a time: that all of them start is not what is measured.
      while (board_->ready.load() + 8 < i) std::this_thread::sleep_for(milliseconds(1));
    }
    const auto waiting = [&] {
      const auto lock = client_.show(mutex_.name());
      return lock ? lock->waiters.size() : 0;
    };
    while (waiting() < static_cast<std::size_t>(processes)) std::this_thread::sleep_for(milliseconds(20));
    board_->released_at = Board::now();
    hold.release();
    for (const pid_t child : children_) ::waitpid(child, nullptr, 0);
  }
  ~Fleet() { ::munmap(board_, sizeof(Board)); }
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  std::vector<double> latencies() const {
    const int count = std::min(board_->handed.load(), Board::most);
    return {board_->microseconds, board_->microseconds + count};
  }

 private:
  static LockOptions slow() { return {.ttl = seconds(60)}; }

  void start(const Scratch& scratch, int turns) {
    const pid_t child = ::fork();
    if (child > 0) children_.push_back(child);
    if (child != 0) return;
    Client client(scratch.url(), {.connect_timeout = seconds(60)});
    Mutex mutex(client, "relay", slow());
    board_->ready.fetch_add(1);
    for (int turn = 0; turn < turns; ++turn) {
      Hold hold = mutex.acquire();
      board_->got_it();
      board_->released_at = Board::now();
      hold.release();
    }
    client.close();
    ::_exit(0);
  }

  Client client_;
  Mutex mutex_;
  Board* board_ = nullptr;
  std::vector<pid_t> children_;
};

void two_processes(benchmark::State& state) {
  const Scratch scratch;
  for (auto _ : state) {
    const Fleet fleet(scratch, 2, 3000);
    report(state, {.what = "hand-off between two processes, p50", .value = median(fleet.latencies()), .unit = "us"});
    report(state, {.what = "- p99", .value = percentile(fleet.latencies(), 99), .unit = "us"});
  }
}
BENCHMARK(two_processes)->Name("sqlite: two processes")->Iterations(1);

void many_processes(benchmark::State& state) {
  constexpr int rounds = 3;
  const auto drained = [](int processes) {
    const Scratch scratch;
    return median(Fleet(scratch, processes, 1).latencies());
  };
  // Ten processes hand the lock on ten times only; so often that the medians can be compared.
  const auto few = [&] {
    std::vector<double> medians;
    for (int i = 0; i < 10; ++i) medians.push_back(drained(10));
    return median(medians);
  };
  for (auto _ : state) {
    Figure figure = compare("1,000 processes wait: a hand-off, p50", "us", rounds,
                            {{"1,000 waiting", [&] { return drained(1000); }}, {"10 waiting", few}});
    figure.aim = Aim{.of = Aim::Of::ratio, .is = Aim::Is::below, .limit = 1.5};
    report(state, figure);
  }
}
BENCHMARK(many_processes)->Name("sqlite: many processes")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
