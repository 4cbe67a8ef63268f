#include "cli/demo/stage.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "cli/demo/failure.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli::demo {
namespace {

using namespace std::chrono_literals;

/// Longer than any lease that a store may insist on.
constexpr auto patience = 60s;
constexpr auto tick_interval = 500ms;

}  // namespace

void Stage::enter(HostId host, const HostProcess::Part& part) {
  processes_[static_cast<std::size_t>(host)] = std::make_unique<HostProcess>(host, part);
}

void Stage::await(HostId host, Event::Kind kind) {
  const Instant deadline = base::BootClock::now() + patience;
  while (!happened(host, kind)) {
    const std::string name(name_of(host));
    if (happened(host, Event::Kind::left)) throw Failure(name + " ended without doing its part");
    const Instant now = base::BootClock::now();
    if (now >= deadline) throw Failure(name + " did not do its part in time; is the store or this machine very slow?");
    if (!watch(std::min(deadline, now + tick_interval))) print(timeline_.tick(base::BootClock::now()));
  }
}

void Stage::pause(std::chrono::milliseconds duration) {
  const Instant end = base::BootClock::now() + duration;
  while (base::BootClock::now() < end) watch(end);
}

const std::vector<Event>& Stage::finish() {
  for (const HostId host : all_hosts) await(host, Event::Kind::left);
  return record_.events;
}

bool Stage::watch(Instant deadline) {
  std::vector<pollfd> watched{{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0}};
  for (const HostId host : all_hosts) {
    // poll() leaves out those below zero.
    const bool there = processes_[static_cast<std::size_t>(host)] != nullptr && !happened(host, Event::Kind::left);
    watched.push_back({.fd = there ? process(host).descriptor() : -1, .events = POLLIN, .revents = 0});
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - base::BootClock::now());
  const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(std::max(left, 0ms).count()));
  if (ready < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "cannot watch the hosts");
  if (ready <= 0) return false;
  if (watched[0].revents != 0) {
    if (const auto arrived = signals_.take(); arrived.signal != 0) throw Interrupted{arrived.signal};
  }
  for (const HostId host : all_hosts) {
    if (watched[1 + static_cast<std::size_t>(host)].revents != 0) hear(host);
  }
  return true;
}

void Stage::hear(HostId host) {
  const std::optional<Event> event = process(host).receive();
  take(event ? *event : event_now(host, Event::Kind::left));
}

void Stage::take(const Event& event) {
  if (event.kind == Event::Kind::failed) {
    throw Failure(std::string(name_of(event.host)) + ": " + printable(event.text.data()), event.code);
  }
  record_.events.push_back(event);
  print(timeline_.event(event));
}

}  // namespace holdfast::cli::demo
