#include "faults/tool_campaign.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include "cli/tool.hpp"
#include "holdfast/client.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::faults {
namespace {

using namespace std::chrono_literals;
using test::Process;

constexpr std::array rooms = {"first", "second", "leader"};
/// How long the last turns may take, once nobody does any harm.
constexpr milliseconds patience = 120s;

/// Looks at the clock every few milliseconds, to see when nobody could.
class StallWatch {
 public:
  std::vector<Stall> end() {
    thread_.request_stop();
    thread_.join();
    return std::move(stalls_);
  }

 private:
  std::vector<Stall> stalls_;
  std::jthread thread_{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const Moment before = now();
      std::this_thread::sleep_for(5ms);
      const Moment after = now();
      if (after - before > 6ms) stalls_.push_back({.begin = before, .end = after});
    }
  }};
};

/// A tool, and who belongs to it. Of its processes one at a time is harmed: nobody promises anything for two. A tool
/// that has lost its guardian is the only one that can still end the command, so it is left alone from then on.
struct Slot {
  std::unique_ptr<Process> tool = {};
  pid_t stopped = -1;
  Moment resume_at = never;
  bool without_guardian = false;
};

class ToolCampaign {
 public:
  explicit ToolCampaign(const ToolCampaignOptions& options) : options_(options), random_(options.seed) {}

  ToolCampaignResult run() {
    result_.wants_sabotage = !options_.sabotages.empty();
    slots_.resize(options_.tools);
    const Moment end = now() + options_.duration;
    const Moment latest = now() + 6 * options_.duration;
    next_sabotage_ = now() + options_.ttl;
    options_.store->set_pastime([this](milliseconds length) { pass(length); });
    const auto has_done_enough = [&] {
      return options_.only_kills_tools ? result_.count(ToolHarm::kill_tool) >= options_.least_kills
                                       : result_.shortcomings().empty();
    };
    while (now() < end || (now() < latest && !has_done_enough())) {
      pass(milliseconds(between(5, 60)));
      harm_somebody();
      sabotage();
    }
    options_.store->set_pastime({});
    finish();
    result_.notes = read_diary(folder_.path() / "diary");
    result_.stalls = stalls_.end();
    result_.violations = judge(result_.notes, result_.stalls);
    return std::move(result_);
  }

 private:
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution(least, most)(random_);
  }

  /// Spends time; lets those go on whose time has come, and starts tools for those that have ended.
  void pass(milliseconds length) {
    const Moment until = now() + length;
    do {
      for (Slot& slot : slots_) look_after(slot, true);
      std::this_thread::sleep_for(5ms);
    } while (now() < until);
  }

  void look_after(Slot& slot, bool again) {
    if (now() >= slot.resume_at) resume(slot);
    if (slot.tool && slot.tool->running()) return;
    if (slot.tool) ended(slot);
    if (again) start(slot);
  }

  void start(Slot& slot) {
    const std::string room = rooms.at(static_cast<std::size_t>(between(0, 2)));
    std::vector<std::string> words = {room == "leader" ? "elect" : "run", room};
    for (const std::string& flag : options_.flags) words.push_back(flag);
    // Most commands are quick, so that there are many turns; the others are there to be harmed.
    const std::int64_t length = between(0, 2) == 0 ? between(500, 4000) : between(1, 40);
    for (const std::string& word :
         {std::string("--ttl"), std::to_string(options_.ttl.count()) + "ms", std::string("--"),
          std::string(HOLDFAST_TOOL_COMMAND), (folder_.path() / room).string(), (folder_.path() / "diary").string(),
          std::to_string(length)}) {
      words.push_back(word);
    }
    slot = {};
    slot.tool = std::make_unique<Process>(
        test::tool(words), test::Start{.environment = {"HOLDFAST_URL=" + options_.store->url(), test::known_leaks()}});
  }

  /// 69: it was started, or wanted to give its lock back, while the store was away.
  void ended(Slot& slot) {
    const test::Finished finished = slot.tool->finish(0ms);
    ++result_.codes[finished.code];
    constexpr std::array expected = {0, 69, 70, 79, 128 + SIGKILL, 1000 + SIGKILL};
    if (std::find(expected.begin(), expected.end(), finished.code) == expected.end()) {
      result_.surprises.push_back("exit code " + std::to_string(finished.code) + ": " + finished.errors);
    }
    slot = {};
  }

  static std::optional<pid_t> only_child(pid_t pid) {
    const std::vector<pid_t> children = test::children_of(pid);
    return children.empty() ? std::nullopt : std::optional(children.front());
  }

  void harm_somebody() {
    for (Slot& slot : slots_) {
      if (slot.stopped >= 0 || slot.without_guardian || !slot.tool->running()) continue;
      const auto guardian = only_child(slot.tool->pid());
      const auto command = guardian ? only_child(*guardian) : std::nullopt;
      if (!command || between(0, 2) > 0) continue;
      do_harm(slot, options_.only_kills_tools ? ToolHarm::kill_tool : some_harm(), *guardian, *command);
      return;
    }
  }

  /// Every other time one that was never done, if there is any: where the store is often away there are few turns.
  ToolHarm some_harm() {
    const auto never_done = std::ranges::find(result_.harms, 0U);
    if (never_done != result_.harms.end() && between(0, 1) == 0) {
      return static_cast<ToolHarm>(never_done - result_.harms.begin());
    }
    return static_cast<ToolHarm>(between(0, tool_harms - 1));
  }

  void do_harm(Slot& slot, ToolHarm harm, pid_t guardian, pid_t command) {
    const std::int64_t lease = options_.ttl.count();
    switch (harm) {
      case ToolHarm::kill_tool: slot.tool->signal(SIGKILL); break;
      case ToolHarm::kill_guardian:
        ::kill(guardian, SIGKILL);
        slot.without_guardian = true;
        break;
      case ToolHarm::kill_command: kill_command(guardian, command); break;
      case ToolHarm::stop_tool_briefly: stop(slot, slot.tool->pid(), milliseconds(between(1, lease / 4))); break;
      case ToolHarm::stop_tool: stop(slot, slot.tool->pid(), milliseconds(between(lease, lease * 3 / 2))); break;
      case ToolHarm::stop_guardian: stop(slot, guardian, milliseconds(between(1, lease * 3 / 2))); break;
      case ToolHarm::stop_command: stop(slot, command, milliseconds(between(1, lease * 3 / 2))); break;
    }
    ++result_.harms.at(static_cast<std::size_t>(harm));
    tell(std::string(name_of(harm)) + ", tool " + std::to_string(slot.tool->pid()) + ", guardian " +
         std::to_string(guardian) + ", command " + std::to_string(command));
  }

  void tell(const std::string& what) {
    const auto at = std::chrono::duration_cast<milliseconds>(now().time_since_epoch());
    result_.story.push_back(std::to_string(at.count()) + " ms: " + what);
  }

  /// Its family first: what a command leaves behind when it ends goes on without the lock, and stays in the room.
  static void kill_command(pid_t guardian, pid_t command) {
    ::kill(command, SIGSTOP);
    const auto family = [&] {
      std::vector<pid_t> pids = test::children_of(command);
      for (const pid_t child : test::children_of(guardian)) pids.push_back(child);
      std::erase_if(pids, [&](pid_t pid) { return pid == command || !test::alive(pid); });
      return pids;
    };
    test::eventually([&] {
      const std::vector<pid_t> living = family();
      for (const pid_t pid : living) ::kill(pid, SIGKILL);
      return living.empty();
    });
    ::kill(command, SIGKILL);
  }

  static void stop(Slot& slot, pid_t pid, milliseconds length) {
    ::kill(pid, SIGSTOP);
    slot.stopped = pid;
    slot.resume_at = now() + length;
  }

  /// The pid may be another process's by now; SIGCONT does no harm to whom nobody has stopped.
  static void resume(Slot& slot) {
    ::kill(slot.stopped, SIGCONT);
    slot.stopped = -1;
    slot.resume_at = never;
  }

  void sabotage() {
    if (options_.sabotages.empty() || now() < next_sabotage_) return;
    const Sabotage kind =
        options_.sabotages.at(static_cast<std::size_t>(between(0, std::ssize(options_.sabotages) - 1)));
    const milliseconds length(between(options_.ttl.count() / 10, options_.ttl.count() * 13 / 10));
    tell("harm to the store, up to " + std::to_string(length.count()) + " ms");
    if (options_.store->do_harm(kind, length) > 0) ++result_.sabotages;
    next_sabotage_ = now() + milliseconds(between(options_.ttl.count(), 2 * options_.ttl.count()));
  }

  /// Everybody who still runs has its turn.
  void finish() {
    for (Slot& slot : slots_) {
      if (slot.stopped >= 0) resume(slot);
    }
    const bool all = test::eventually(patience, [&] {
      bool ended = true;
      for (Slot& slot : slots_) {
        look_after(slot, false);
        ended = ended && !slot.tool;
      }
      return ended;
    });
    if (!all) result_.surprises.push_back("a tool did not end although nobody did it any harm any more");
    const Client client(options_.store->url());
    const bool empty = test::eventually(options_.ttl * 3 + 5s, [&] {
      for (const char* room : rooms) {
        const LockKind kind = std::string_view(room) == "leader" ? LockKind::election : LockKind::lock;
        if (client.show(room, kind)) return false;
      }
      return true;
    });
    if (!empty) result_.surprises.push_back("somebody still holds something or waits for it");
    for (const char* room : rooms) {
      const int file = ::open((folder_.path() / room).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      if (::flock(file, LOCK_EX | LOCK_NB) != 0) result_.surprises.push_back("somebody is left in a room");
      ::close(file);
    }
  }

  const ToolCampaignOptions& options_;
  const test::TemporaryDirectory folder_{test::memory_directory()};
  std::mt19937_64 random_;
  std::vector<Slot> slots_;
  Moment next_sabotage_ = never;
  StallWatch stalls_;
  ToolCampaignResult result_;
};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoull(text);
}

}  // namespace

ToolCampaignOptions ToolCampaignOptions::from_environment(Store& store) {
  const auto today =
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) % 1'000'000;
  ToolCampaignOptions options;
  options.store = &store;
  options.duration = std::chrono::seconds(number_from("HOLDFAST_FAULTS_SECONDS", 10));
  options.seed = number_from("HOLDFAST_FAULTS_SEED", today);
  return options;
}

std::string_view name_of(ToolHarm harm) {
  switch (harm) {
    case ToolHarm::kill_tool: return "kill_tool";
    case ToolHarm::kill_guardian: return "kill_guardian";
    case ToolHarm::kill_command: return "kill_command";
    case ToolHarm::stop_tool_briefly: return "stop_tool_briefly";
    case ToolHarm::stop_tool: return "stop_tool";
    case ToolHarm::stop_guardian: return "stop_guardian";
    case ToolHarm::stop_command: return "stop_command";
  }
  return "?";
}

std::uint64_t ToolCampaignResult::entries() const {
  return static_cast<std::uint64_t>(std::count_if(
      notes.begin(), notes.end(), [](const ToolNote& note) { return note.kind == ToolNote::Kind::enters; }));
}

std::vector<std::string> ToolCampaignResult::shortcomings() const {
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < tool_harms; ++i) {
    if (harms.at(i) == 0) missing.push_back("never done: " + std::string(name_of(static_cast<ToolHarm>(i))));
  }
  if (wants_sabotage && sabotages == 0) missing.push_back("nothing was done to the store");
  return missing;
}

std::string ToolCampaignResult::summary() const {
  std::ostringstream text;
  text << entries() << " entries; harm to whoever had a lock:";
  for (std::size_t i = 0; i < tool_harms; ++i) text << ' ' << name_of(static_cast<ToolHarm>(i)) << ' ' << harms.at(i);
  text << "; to the store: " << sabotages << "; exit codes:";
  for (const auto& [code, times] : codes) text << ' ' << code << " x" << times;
  Duration longest{};
  for (const Stall& stall : stalls) longest = std::max(longest, stall.end - stall.begin);
  text << "; the machine stood still for " << std::chrono::ceil<milliseconds>(longest).count() << " ms at most\n";
  return text.str();
}

ToolCampaignResult run_tool_campaign(const ToolCampaignOptions& options) { return ToolCampaign(options).run(); }

}  // namespace holdfast::faults
