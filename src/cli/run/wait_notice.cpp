#include "cli/run/wait_notice.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "cli/look/lock_row.hpp"
#include "cli/pause.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli {

WaitNotice::WaitNotice(Client& client, LockName name, LockKind kind)
    : client_(client),
      name_(std::move(name)),
      kind_(kind),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void WaitNotice::watch(const std::stop_token& stop) const {
  constexpr auto long_wait = std::chrono::seconds(1);
  while (pause_for(long_wait, stop)) {
    if (tell_who()) return;
  }
}

bool WaitNotice::tell_who() const {
  if (client_.health().contact != Health::Contact::good) return false;
  try {
    const auto lock = client_.show(name_, kind_);
    if (!lock || lock->holders.empty()) return false;
    const LockRow row = row_of(*lock, std::chrono::system_clock::now());
    const std::string how_long = row.age == "-" ? "" : " for " + row.age;
    tell("waiting for " + in_quotes(name_.text()) + ", held by " + row.holder + how_long);
    return true;
  } catch (const Error&) {
    return false;  // whoever waits for the lock hears what is wrong with the store
  }
}

}  // namespace holdfast::cli
