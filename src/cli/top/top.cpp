// A live picture of all locks on the whole screen: a loop that waits for keys, samples and signals, and draws.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/look/sampler.hpp"
#include "cli/secrets.hpp"
#include "cli/signals.hpp"
#include "cli/store.hpp"
#include "cli/text/output.hpp"
#include "cli/top/keys.hpp"
#include "cli/top/screen.hpp"
#include "cli/top/screen_signals.hpp"
#include "cli/top/state.hpp"
#include "cli/top/view.hpp"
#include "holdfast/client.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr milliseconds pause_between_looks{500};
/// After this time without more bytes an Esc is a key of its own.
constexpr milliseconds key_patience{50};

std::string name_of(const Store& store) {
  const bool is_default = !store.default_file.empty();
  return printable(without_password(store.url)) + (is_default ? " (one user on one host)" : "");
}

/// Made first of all, so that none of them finds the terminal half prepared.
struct AllSignals {
  const Signals ending;
  const ScreenSignals screen;
};

class TopLoop {
 public:
  TopLoop(const Store& store, Client client, std::vector<LockStatus> locks, const AllSignals& signals)
      : signals_(signals.ending),
        screen_signals_(signals.screen),
        store_{.name = name_of(store), .seen = system_clock::now()},
        sampler_(std::move(client), "", pause_between_looks) {
    state_.update(std::move(locks));
  }

  /// Until somebody quits. Returns the exit code.
  int run() {
    while (!ended_) {
      draw();
      wait();
      hear_signals();
      hear_keys();
      hear_store();
    }
    return *ended_;
  }

 private:
  void draw() {
    const ScreenSize size = Screen::size();
    screen_.draw(view_of(state_, store_, system_clock::now(), size), size);
  }

  void wait() {
    wanted_ = {pollfd{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
               pollfd{.fd = sampler_.descriptor(), .events = POLLIN, .revents = 0},
               pollfd{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0},
               pollfd{.fd = screen_signals_.descriptor(), .events = POLLIN, .revents = 0}};
    const milliseconds timeout = decoder_.undecided() ? key_patience : pause_between_looks;
    ::poll(wanted_.data(), wanted_.size(), static_cast<int>(timeout.count()));
  }

  void hear_signals() {
    if (const int signal = signals_.take().signal; signal != 0) ended_ = exit_code::signal_base + signal;
    while (const int signal = screen_signals_.take()) {
      if (signal == SIGTSTP) stop();
      if (signal == SIGCONT) screen_.enter();  // whoever stopped us may have used the terminal
      if (signal == SIGWINCH) screen_.forget();
    }
  }

  void hear_keys() {
    if (wanted_[0].revents == 0) {
      press(decoder_.settle());
      return;
    }
    std::array<char, 256> bytes{};
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count > 0) {
      press(decoder_.feed({bytes.data(), static_cast<std::size_t>(count)}));
    } else if (count == 0 || errno != EINTR) {
      ended_ = exit_code::signal_base + SIGHUP;  // the terminal is gone
    }
  }

  void press(const std::vector<Key>& keys) {
    for (const Key& key : keys) {
      switch (state_.press(key, rows_of_page(Screen::size()))) {
        case TopState::Outcome::none: break;
        case TopState::Outcome::quit: ended_ = exit_code::ok; return;
        case TopState::Outcome::stop: stop(); break;
        case TopState::Outcome::redraw: screen_.forget(); break;
      }
    }
  }

  void hear_store() {
    std::optional<Sample> sample = sampler_.take();
    if (!sample) return;
    store_.failure = std::move(sample->failure);
    if (!store_.failure.empty()) return;
    store_.seen = sample->wall;
    state_.update(std::move(sample->locks));
  }

  void stop() {
    screen_.leave();
    ScreenSignals::stop_job();
    screen_.enter();
  }

  const Signals& signals_;
  const ScreenSignals& screen_signals_;
  TopState state_;
  StoreNews store_;
  Sampler sampler_;
  Screen screen_;
  KeyDecoder decoder_;
  std::array<pollfd, 4> wanted_{};
  std::optional<int> ended_;
};

class Top : public Command {
 public:
  void define(Parameters& parameters) override { parameters.store(store_); }

  int execute() override {
    Screen::require("'holdfast ls' and 'holdfast watch' need none");
    const AllSignals signals;
    const Store store = choose_store(store_);
    Client client = open_client(store, {.close_timeout = milliseconds(200)});
    std::vector<LockStatus> locks = client.list();
    return TopLoop(store, std::move(client), std::move(locks), signals).run();
  }

 private:
  StoreFlags store_;
};

}  // namespace

const CommandEntry top_entry = {
    .name = "top",
    .summary = "Show all locks live, on the whole screen",
    .details =
        "Looks at the store twice a second. Keys: the arrows select, Enter shows a lock in detail, n s t w sort by\n"
        "name, age, TTL and waiters, / filters, ? shows help, q quits. Needs a terminal; without one, use ls or\n"
        "watch.\n"
        "Examples:\n"
        "  holdfast top\n"
        "  holdfast top --url sqlite:/srv/locks.db",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Top>(); },
};

}  // namespace holdfast::cli
