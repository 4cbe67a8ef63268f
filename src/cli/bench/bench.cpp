#include <array>
#include <cstdio>
#include <future>
#include <random>
#include <stop_token>

#include "cli/bench/measures.hpp"
#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/signals.hpp"
#include "cli/store.hpp"
#include "cli/text/answer_json.hpp"
#include "cli/text/output.hpp"
#include "holdfast/error.hpp"

namespace holdfast::cli {
namespace {

/// The beginning of names that nobody else uses.
std::string new_prefix() {
  std::random_device random;
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x%08x", random(), random());
  return "holdfast-bench-" + std::string(digits.data()) + "/";
}

/// What became of the measuring: figures, or the signal that ended it.
struct Measured {
  std::vector<BenchFigure> figures = {};
  int signal = 0;
};

/// Measures on a thread of its own, so that a signal can end it and every lock is given back.
Measured measure_interruptibly(Client& client, Client& other, std::chrono::nanoseconds each, const Signals& signals) {
  constexpr auto looks_again_after = std::chrono::milliseconds(20);
  Measured measured;
  const std::stop_source stop;
  auto result = std::async(std::launch::async,
                           [&, token = stop.get_token()] { return measure(client, other, new_prefix(), each, token); });
  while (result.wait_for(looks_again_after) != std::future_status::ready) {
    if (const int signal = signals.take().signal; signal != 0) {
      measured.signal = signal;
      stop.request_stop();
    }
  }
  try {
    measured.figures = result.get();
  } catch (const Error& error) {
    if (measured.signal == 0 || error.errc() != Errc::cancelled) throw;
  }
  return measured;
}

class Bench : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.number("--seconds", "how long to measure in total (default: 4)", 1, 60, seconds_);
    parameters.flag("--json", "print a JSON object", json_);
    parameters.store(store_);
  }

  int execute() override {
    const Signals signals;  // before the clients: their threads inherit what it blocks
    const Store store = choose_store(store_);
    tell_if_default(store);
    Client client = open_client(store, {.label = "bench"});
    Client other = open_client(store, {.label = "bench"});
    constexpr int default_seconds = 4;
    constexpr int measures = 4;
    const std::chrono::nanoseconds each = std::chrono::seconds(seconds_.value_or(default_seconds));
    const Measured measured = measure_interruptibly(client, other, each / measures, signals);
    if (measured.signal != 0) {
      tell("interrupted; all locks were released");
      return exit_code::signal_base + measured.signal;
    }
    const std::string name = client.traits().store;
    print(json_ ? to_json(name, measured.figures) : table_of(measured.figures));
    tell("these figures depend on the load of this machine and of the store; both clients were in one process");
    return exit_code::ok;
  }

 private:
  std::optional<int> seconds_;
  bool json_ = false;
  StoreFlags store_;
};

}  // namespace

const CommandEntry bench_entry = {
    .name = "bench",
    .summary = "Measure how fast a store grants, hands over and refuses locks",
    .details =
        "Uses locks of its own and releases all of them, even after Ctrl-C. Every release waits for the store's\n"
        "answer. A hand-off is the time from one client's release to another client's grant.\n"
        "Examples:\n"
        "  holdfast bench\n"
        "  holdfast bench --seconds 20 --json -u sqlite:/var/lib/app/locks.db",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Bench>(); },
};

}  // namespace holdfast::cli
