// Looks at the store again and again, and prints what is different.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/look/changes.hpp"
#include "cli/look/json.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/sampler.hpp"
#include "cli/signals.hpp"
#include "cli/store.hpp"
#include "cli/text/output.hpp"
#include "cli/text/time_text.hpp"
#include "holdfast/client.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr milliseconds pause_between_looks{250};
constexpr const char* no_output = "cannot write to standard output";

std::string_view colour_of(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::held:
    case Change::Kind::acquired: return "\x1b[32m";
    case Change::Kind::waiting: return "\x1b[33m";
    case Change::Kind::broken:
    case Change::Kind::expired: return "\x1b[31m";
    case Change::Kind::released:
    case Change::Kind::left: break;
  }
  return "\x1b[36m";
}

/// A column of lines that are not all known yet: as wide as its widest cell so far.
class Column {
 public:
  explicit Column(std::size_t least) : width_(least) {}

  std::string padded(std::string cell) {
    width_ = std::max(width_, width(cell));
    cell.append(width_ - width(cell) + 2, ' ');
    return cell;
  }

 private:
  std::size_t width_;
};

/// Changes as lines for people.
class Lines {
 public:
  std::string line(const Change& change, system_clock::time_point time) {
    std::string event = event_.padded(std::string(word_for(change.kind)));
    if (colours_) event = std::string(colour_of(change.kind)) + event + "\x1b[0m";
    return rfc3339(time) + "  " + event + name_.padded(printable(change.name)) +
           client_.padded(client_of(change.claim)) + token_text(token_of(change.claim)) + "\n";
  }

 private:
  const bool colours_ = wants_colour(Stream::output);
  Column event_{8};
  Column name_{16};
  Column client_{20};
};

class Watch : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.optional("PREFIX", "only locks whose names begin with this", prefix_);
    parameters.flag("--json", "print a JSON object for each change, one per line", json_);
    parameters.store(store_);
  }

  int execute() override {
    const Signals signals;  // first of all, so that Ctrl-C ends it the same way at any time
    const Store store = choose_store(store_);
    Client client = open_client(store, {.close_timeout = milliseconds(200)});
    last_.locks = client.list(prefix_);
    last_.taken = base::BootClock::now();
    tell_if_default(store);
    tell("watching; looks at the store 4 times a second, so shorter changes may be missed");

    Sampler sampler(std::move(client), prefix_, pause_between_looks);
    try {
      show(present(last_.locks), system_clock::now());
      return watch(sampler, signals);
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::broken_pipe) throw;
      return exit_code::signal_base + SIGPIPE;
    }
  }

 private:
  /// Until a signal ends it, or nobody reads the output any more. Returns the exit code.
  int watch(Sampler& sampler, const Signals& signals) {
    std::array<pollfd, 3> wanted{pollfd{.fd = signals.descriptor(), .events = POLLIN, .revents = 0},
                                 pollfd{.fd = sampler.descriptor(), .events = POLLIN, .revents = 0},
                                 pollfd{.fd = STDOUT_FILENO, .events = 0, .revents = 0}};
    while (true) {
      ::poll(wanted.data(), wanted.size(), -1);
      if (const int signal = signals.take().signal; signal != 0) return exit_code::signal_base + signal;
      if ((wanted[2].revents & POLLNVAL) != 0) throw std::system_error(EBADF, std::generic_category(), no_output);
      if (wanted[2].revents != 0) return exit_code::signal_base + SIGPIPE;
      if (auto sample = sampler.take()) hear(std::move(*sample));
    }
  }

  void hear(Sample sample) {
    const bool answered = sample.failure.empty();
    if (answered != answering_) {
      tell(answered ? "the store answers again" : "the store does not answer: " + sample.failure + "; still trying");
      answering_ = answered;
    }
    if (!answered) return;
    const auto elapsed = std::chrono::ceil<milliseconds>(sample.taken - last_.taken);
    show(changes_between(last_.locks, sample.locks, elapsed, sample.marks), sample.wall);
    last_ = std::move(sample);
  }

  void show(const std::vector<Change>& changes, system_clock::time_point time) {
    std::string text;
    for (const Change& change : changes) text += json_ ? to_json(change, time) : lines_.line(change, time);
    print(text);
  }

  std::string prefix_;
  bool json_ = false;
  StoreFlags store_;
  Lines lines_;
  Sample last_;
  bool answering_ = true;
};

}  // namespace

const CommandEntry watch_entry = {
    .name = "watch",
    .summary = "Print changes as they happen: acquired, released, broken, waiting",
    .details =
        "Prints first what exists: 'held' and 'waiting'. Then looks at the store 4 times a second and prints what\n"
        "has changed:\n"
        "  acquired  a client now holds the lock\n"
        "  released  a client has released the lock\n"
        "  broken    'holdfast break' took the lock away (if a program's evict() did it: 'released')\n"
        "  expired   a client no longer holds the lock, because it did not renew its lease\n"
        "  waiting   a client now waits for the lock\n"
        "  left      a client no longer waits: it gave up, or held the lock for a moment between two looks\n"
        "What begins and ends between two looks is not seen. Outages of the store do not end the watch.\n"
        "Examples:\n"
        "  holdfast watch\n"
        "  holdfast watch invoices/ --json",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Watch>(); },
};

}  // namespace holdfast::cli
