#include "crash/victim.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <random>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "crash/observed_vfs.hpp"
#include "crash/shared_record.hpp"
#include "crash/store_client.hpp"
#include "crash/syncs.hpp"
#include "holdfast/holdfast.hpp"
#include "support/eventually.hpp"

namespace holdfast::crash {
namespace {

constexpr std::string_view victim_argument = "--holdfast-crash-victim";

/// Ends the process in the middle of what SQLite does.
class Killer final : public DiskObserver {
 public:
  /// From now on, after that many events.
  void arm(std::uint64_t events) { left_ = events; }

  void happened(const DiskEvent&) override {
    if (left_ > 0 && --left_ == 0) raise(SIGKILL);
  }

 private:
  std::uint64_t left_ = 0;
};

/// What a victim does all its life.
class Life {
 public:
  explicit Life(const Victim::Orders& orders)
      : process_(orders.process),
        record_(Victim::record_in(orders.directory)),
        registers_(Victim::database_in(orders.directory)),
        client_("sqlite:" + Victim::database_in(orders.directory).string()),
        random_(orders.seed) {
    look_at_register();
  }

  void step() {
    try {
      switch (random_() % 6) {
        case 0: write(); break;
        case 1: add(); break;
        default: visit(random_() % SharedRecord::locks); break;
      }
    } catch (const Error& error) {
      if (!spi::is_retryable(error.errc())) throw;
      ++record_->doubts;  // the machine is busy: no answer in time
      registers_.settle();
      look_at_register();
    }
    ++record_->process[process_].steps;
  }

 private:
  std::string register_name() const { return "victim-" + std::to_string(process_); }
  static std::string value(std::uint64_t version) { return version == 0 ? "" : "value " + std::to_string(version); }

  /// It holds the last value that was acknowledged, or one that was asked for since.
  void look_at_register() {
    SharedRecord::Process& self = record_->process[process_];
    const spi::Versioned mine = registers_.read(register_name());
    if (mine.version < self.acknowledged || mine.version > self.asked || mine.value != value(mine.version)) {
      record_->complain("register " + register_name() + " has version " + std::to_string(mine.version) +
                        ", acknowledged " + std::to_string(self.acknowledged) + ", asked for " +
                        std::to_string(self.asked));
    }
    self.acknowledged = mine.version;
    self.asked = mine.version;
    written_ = mine.version;
  }

  void visit(std::size_t which) {
    Mutex mutex(client_, "lock-" + std::to_string(which), {.ttl = victims_lease});
    const std::optional<Hold> hold = mutex.try_acquire_for(victims_lease / 5);
    if (!hold) {
      record_->complain("a lock was not granted within " + std::to_string(victims_lease.count() / 5) + " s");
      return;
    }
    SharedRecord::Lock& lock = record_->lock[which];
    lock.inside = getpid();
    const std::uint64_t token = hold->token().value();
    const std::uint64_t before = lock.last_token.exchange(token);
    if (token <= before) {
      record_->complain("token " + std::to_string(token) + " came after token " + std::to_string(before));
    }
    ++record_->grants;
    if (random_() % 4 == 0) write();
    // Whoever comes in takes those who are still inside to be dead. This one is not.
    std::int64_t self = getpid();
    if (!lock.inside.compare_exchange_strong(self, 0)) record_->complain("two were inside");
  }

  void write() {
    SharedRecord::Process& self = record_->process[process_];
    self.asked = written_ + 1;
    if (!registers_.write_if(register_name(), written_, value(written_ + 1)).written) {
      record_->complain("a register that nobody else writes has changed");
    }
    self.acknowledged = ++written_;
  }

  void add() {
    ++record_->added_asked;
    registers_.add("counter", 1);
    ++record_->added_acknowledged;
  }

  const std::size_t process_;
  const SharedRecordFile record_;
  StoreClient registers_;
  Client client_;
  std::mt19937 random_;
  std::uint64_t written_ = 0;
};

}  // namespace

Victim::Victim(const Orders& orders) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::string> words = {"holdfast-crash-victim",           std::string(victim_argument),
                                    orders.directory.string(),         std::to_string(orders.process),
                                    std::to_string(orders.kill_after), std::to_string(orders.seed)};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int error = posix_spawn(&pid_, program.c_str(), nullptr, nullptr, arguments.data(), environ);
  if (error != 0) throw std::system_error(error, std::generic_category(), "posix_spawn");
}

Victim::~Victim() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Victim::kill() {
  ::kill(pid_, SIGKILL);
  reap(0);
}

bool Victim::has_died(std::chrono::milliseconds bound) {
  return test::eventually(bound, [this] { return reap(WNOHANG); });
}

bool Victim::reap(int flags) {
  if (pid_ < 0) return true;
  int status = 0;
  if (waitpid(pid_, &status, flags) != pid_) return false;
  pid_ = -1;
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) throw std::runtime_error("a victim ended by itself");
  return true;
}

bool Victim::is_one(int argc, char** argv) { return argc == 6 && argv[1] == victim_argument; }

void Victim::live(char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Syncs::make_real();
  const Orders orders = {.directory = argv[2],
                         .process = std::stoul(argv[3]),
                         .kill_after = std::stoull(argv[4]),
                         .seed = static_cast<std::uint32_t>(std::stoul(argv[5]))};
  Killer killer;
  std::unique_ptr<ObservedVfs> vfs;
  if (orders.kill_after > 0) {
    vfs = std::make_unique<ObservedVfs>(database_in(orders.directory).parent_path(), killer,
                                        ObservedVfs::Existing::known);
    killer.arm(orders.kill_after);
  }
  const SharedRecordFile record(record_in(orders.directory));
  try {
    Life life(orders);
    for (;;) life.step();
  } catch (const std::exception& error) {
    record->complain(std::string("a victim stopped: ") + error.what());
  }
  std::quick_exit(1);
}

}  // namespace holdfast::crash
