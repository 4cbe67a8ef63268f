#include "cli/demo/verdict.hpp"

#include <algorithm>

namespace holdfast::cli::demo {
namespace {

using Kind = Event::Kind;
using Senders = std::vector<HostId>;

std::string names(const Senders& senders) {
  std::string text;
  for (const HostId sender : senders) text += (text.empty() ? "" : ", ") + std::string(name_of(sender));
  return text.empty() ? "nobody" : text;
}

std::string objection_to_senders(const ActRecord& record, const Senders& expected) {
  if (record.senders == expected) return {};
  return "messages should have come from " + names(expected) + ", and came from " + names(record.senders);
}

struct Step {
  HostId host;
  Kind kind;
  const char* what;  ///< what did not happen, if it did not
};

/// All steps, one after the other.
std::string objection_to_order(const ActRecord& record, const std::vector<Step>& steps) {
  base::BootClock::rep before = 0;
  for (const Step& step : steps) {
    const Event* const event = find(record, step.host, step.kind);
    if (event == nullptr) return std::string(name_of(step.host)) + " " + step.what;
    if (event->at < before) return std::string(name_of(step.host)) + " " + step.what + " when it should have";
    before = event->at;
  }
  return {};
}

std::string objection_to_tokens(const ActRecord& record) {
  const Token earlier(find(record, HostId::a, Kind::acquired)->token);
  const Token later(find(record, HostId::b, Kind::acquired)->token);
  if (earlier < later) return {};
  return "host-b's token " + to_string(later) + " is not larger than host-a's " + to_string(earlier);
}

/// No store may give a lock away earlier: the lease of host-a began after host-a did.
std::string objection_to_lease(const ActRecord& record) {
  const auto lease = std::chrono::milliseconds(find(record, HostId::a, Kind::acquired)->lease_ms);
  if (takeover_time(record, Kind::begins) >= lease) return {};
  return "host-b got the lock before host-a's lease was over";
}

}  // namespace

const Event* find(const ActRecord& record, HostId host, Event::Kind kind) {
  const auto found = std::find_if(record.events.begin(), record.events.end(),
                                  [&](const Event& event) { return event.host == host && event.kind == kind; });
  return found == record.events.end() ? nullptr : &*found;
}

std::chrono::milliseconds takeover_time(const ActRecord& record, Event::Kind kind) {
  const auto taken = find(record, HostId::b, Kind::acquired)->time();
  return std::chrono::ceil<std::chrono::milliseconds>(taken - find(record, HostId::a, kind)->time());
}

std::string objection_to_no_lock(const ActRecord& record) {
  Senders senders = record.senders;
  std::sort(senders.begin(), senders.end());
  return objection_to_senders({.senders = senders}, {HostId::a, HostId::b});
}

std::string objection_to_once_per_hour(const ActRecord& record) {
  if (std::string wrong = objection_to_senders(record, {HostId::a}); !wrong.empty()) return wrong;
  return objection_to_order(record, {{HostId::a, Kind::acquired, "did not get the lock"},
                                     {HostId::b, Kind::waits, "did not find the lock held"},
                                     {HostId::a, Kind::sent, "did not send"},
                                     {HostId::b, Kind::skips, "did not see that the job was done"}});
}

std::string objection_to_kill(const ActRecord& record) {
  if (std::string wrong = objection_to_senders(record, {HostId::b}); !wrong.empty()) return wrong;
  const std::string wrong = objection_to_order(record, {{HostId::a, Kind::acquired, "did not get the lock"},
                                                        {HostId::b, Kind::waits, "did not find the lock held"},
                                                        {HostId::a, Kind::killed, "was not killed"},
                                                        {HostId::b, Kind::acquired, "did not take over"},
                                                        {HostId::b, Kind::sent, "did not send"}});
  return wrong.empty() ? objection_to_tokens(record) : wrong;
}

std::string objection_to_pause(const ActRecord& record) {
  if (find(record, HostId::a, Kind::refused) == nullptr) return "host-a's late message was not refused";
  if (std::string wrong = objection_to_senders(record, {HostId::b}); !wrong.empty()) return wrong;
  std::string wrong = objection_to_order(record, {{HostId::a, Kind::begins, "did not begin"},
                                                  {HostId::a, Kind::acquired, "did not get the lock"},
                                                  {HostId::a, Kind::checked, "did not find its lock valid"},
                                                  {HostId::a, Kind::stopped, "was not stopped"},
                                                  {HostId::b, Kind::acquired, "did not take over"},
                                                  {HostId::b, Kind::sent, "did not send"},
                                                  {HostId::a, Kind::resumed, "did not go on"},
                                                  {HostId::a, Kind::refused, "was not refused"},
                                                  {HostId::a, Kind::lost, "did not see that its lock was lost"}});
  if (wrong.empty()) wrong = objection_to_lease(record);
  return wrong.empty() ? objection_to_tokens(record) : wrong;
}

}  // namespace holdfast::cli::demo
