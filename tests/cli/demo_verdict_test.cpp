// The check of the demonstration's own story: it must believe a true one, and object to every false one.
#include <gmock/gmock.h>

#include "cli/demo/verdict.hpp"

namespace holdfast::cli::demo {
namespace {

using Kind = Event::Kind;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr HostId a = HostId::a;
constexpr HostId b = HostId::b;

Event event(std::chrono::milliseconds at, HostId host, Kind kind, std::uint64_t token = 0) {
  return {.host = host,
          .kind = kind,
          .at = std::chrono::nanoseconds(at).count(),
          .token = token,
          .lease_ms = kind == Kind::acquired ? 1000 : 0};
}

void remove(ActRecord& record, HostId host, Kind kind) {
  std::erase_if(record.events, [&](const Event& event) { return event.host == host && event.kind == kind; });
}

void move(ActRecord& record, HostId host, Kind kind, std::chrono::milliseconds at) {
  for (Event& event : record.events) {
    if (event.host == host && event.kind == kind) event.at = std::chrono::nanoseconds(at).count();
  }
}

const ActRecord once_per_hour = {
    .events = {event(10ms, a, Kind::begins), event(20ms, a, Kind::acquired, 256), event(30ms, b, Kind::begins),
               event(40ms, b, Kind::waits), event(50ms, a, Kind::sent, 256), event(60ms, a, Kind::released),
               event(70ms, b, Kind::skips)},
    .senders = {a}};

const ActRecord killed = {
    .events = {event(10ms, a, Kind::begins), event(20ms, a, Kind::acquired, 256), event(40ms, b, Kind::waits),
               event(50ms, a, Kind::killed), event(950ms, b, Kind::acquired, 512), event(960ms, b, Kind::sent, 512)},
    .senders = {b}};

const ActRecord paused = {
    .events = {event(10ms, a, Kind::begins), event(20ms, a, Kind::acquired, 256), event(30ms, a, Kind::checked),
               event(40ms, a, Kind::stopped), event(50ms, b, Kind::waits), event(1020ms, b, Kind::acquired, 512),
               event(1030ms, b, Kind::sent, 512), event(1100ms, a, Kind::resumed), event(1110ms, a, Kind::refused, 256),
               event(1120ms, a, Kind::lost)},
    .senders = {b}};

TEST(DemoVerdict, BelievesTrueStories) {
  EXPECT_EQ(objection_to_no_lock({.senders = {a, b}}), "");
  EXPECT_EQ(objection_to_no_lock({.senders = {b, a}}), "");
  EXPECT_EQ(objection_to_once_per_hour(once_per_hour), "");
  EXPECT_EQ(objection_to_kill(killed), "");
  EXPECT_EQ(objection_to_pause(paused), "");
}

TEST(DemoVerdict, DoesNotDependOnTheOrderInWhichEventsWereHeard) {
  ActRecord record = paused;
  std::reverse(record.events.begin(), record.events.end());
  EXPECT_EQ(objection_to_pause(record), "");
}

TEST(DemoVerdict, MeasuresTheTakeover) {
  EXPECT_EQ(takeover_time(killed, Kind::killed), 900ms);
  EXPECT_EQ(takeover_time(paused, Kind::stopped), 980ms);
}

TEST(DemoVerdict, ObjectsWithoutALockUnlessBothHaveSent) {
  EXPECT_THAT(objection_to_no_lock({.senders = {a}}), HasSubstr("came from host-a"));
  EXPECT_THAT(objection_to_no_lock({.senders = {a, a}}), HasSubstr("came from host-a, host-a"));
  EXPECT_THAT(objection_to_no_lock({}), HasSubstr("came from nobody"));
}

TEST(DemoVerdict, ObjectsToASecondMessage) {
  ActRecord record = once_per_hour;
  record.senders = {a, b};
  EXPECT_THAT(objection_to_once_per_hour(record), HasSubstr("came from host-a, host-b"));
  record = killed;
  record.senders = {a, b};
  EXPECT_NE(objection_to_kill(record), "");
  record = paused;
  record.senders = {b, a};
  EXPECT_NE(objection_to_pause(record), "");
}

TEST(DemoVerdict, ObjectsIfAnyStepIsMissing) {
  const auto check_all = [](const ActRecord& story, std::string (*objection)(const ActRecord&), HostId host,
                            std::initializer_list<Kind> kinds) {
    for (const Kind kind : kinds) {
      ActRecord record = story;
      remove(record, host, kind);
      EXPECT_THAT(objection(record), HasSubstr(std::string(name_of(host)))) << static_cast<int>(kind);
    }
  };
  check_all(once_per_hour, objection_to_once_per_hour, a, {Kind::acquired, Kind::sent});
  check_all(once_per_hour, objection_to_once_per_hour, b, {Kind::waits, Kind::skips});
  check_all(killed, objection_to_kill, a, {Kind::acquired, Kind::killed});
  check_all(killed, objection_to_kill, b, {Kind::waits, Kind::acquired, Kind::sent});
  check_all(paused, objection_to_pause, a,
            {Kind::acquired, Kind::checked, Kind::stopped, Kind::resumed, Kind::refused, Kind::lost});
  check_all(paused, objection_to_pause, b, {Kind::acquired, Kind::sent});
}

TEST(DemoVerdict, ObjectsToATakeoverBeforeTheKill) {
  ActRecord record = killed;
  move(record, b, Kind::acquired, 45ms);
  EXPECT_THAT(objection_to_kill(record), HasSubstr("host-b did not take over when it should have"));
}

TEST(DemoVerdict, ObjectsToATakeoverWhileTheLeaseRuns) {
  ActRecord record = paused;
  move(record, b, Kind::acquired, 1009ms);
  EXPECT_THAT(objection_to_pause(record), HasSubstr("before host-a's lease was over"));
}

TEST(DemoVerdict, ObjectsToAStaleWriteThatWasNotRefused) {
  ActRecord record = paused;
  for (Event& event : record.events) {
    if (event.kind == Kind::refused) event.kind = Kind::sent;
  }
  EXPECT_THAT(objection_to_pause(record), HasSubstr("was not refused"));
}

TEST(DemoVerdict, ObjectsToTokensThatDoNotRise) {
  for (const auto& [story, objection] :
       {std::pair(killed, &objection_to_kill), std::pair(paused, &objection_to_pause)}) {
    ActRecord record = story;
    for (Event& event : record.events) {
      if (event.host == b && event.kind == Kind::acquired) event.token = 256;
    }
    EXPECT_THAT(objection(record), HasSubstr("token 256 is not larger"));
  }
}

}  // namespace
}  // namespace holdfast::cli::demo
