#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "cli/demo/failure.hpp"
#include "cli/demo/host.hpp"
#include "cli/tool.hpp"

namespace holdfast::cli::demo {
namespace {

using Kind = Event::Kind;
using test::eventually;

pid_t only_child() {
  const std::vector<pid_t> children = test::children_of(::getpid());
  return children.size() == 1 ? children.front() : -1;
}

void expect_next(HostProcess& host, Kind kind) {
  const std::optional<Event> event = host.receive();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, kind);
}

TEST(DemoHost, IsHeardToTheEndEvenIfItLeavesWithoutItsCue) {
  std::array<int, 2> gate{};
  ASSERT_EQ(::pipe(gate.data()), 0);
  HostProcess host(HostId::b, [&](const HostLink& link) {
    link.tell(Kind::begins);
    char byte = 0;
    if (::read(gate[0], &byte, 1) == 1) link.tell(Kind::skips);
  });
  const pid_t pid = only_child();
  host.cue();
  ASSERT_EQ(::write(gate[1], "x", 1), 1);
  ASSERT_TRUE(eventually([&] { return !test::alive(pid); }));
  expect_next(host, Kind::begins);
  expect_next(host, Kind::skips);
  EXPECT_FALSE(host.receive());
  for (const int end : gate) ::close(end);
}

TEST(DemoHost, IsStoppedResumedAndKilled) {
  HostProcess host(HostId::a, [](const HostLink& link) {
    link.await_cue();
    link.tell(Kind::sent, Token(7));
    link.await_cue();
  });
  const pid_t pid = only_child();
  host.stop();
  EXPECT_EQ(test::state_of(pid), 'T');
  host.cue();
  host.resume();
  expect_next(host, Kind::sent);
  host.kill();
  EXPECT_FALSE(test::alive(pid));
  EXPECT_FALSE(host.receive());
  EXPECT_THROW(host.stop(), Failure) << "there is nobody left";
}

TEST(DemoHost, TellsWhatItFailedOf) {
  HostProcess host(HostId::a, [](const HostLink&) { throw Error(Errc::unreachable, "no store here"); });
  const std::optional<Event> event = host.receive();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Kind::failed);
  EXPECT_EQ(event->code, exit_code::unavailable);
  EXPECT_NE(std::string(event->text.data()).find("no store here"), std::string::npos);
}

TEST(DemoHost, IsGoneWithItsObject) {
  pid_t pid = -1;
  {
    const HostProcess host(HostId::a, [](const HostLink& link) { link.await_cue(); });
    pid = only_child();
    EXPECT_TRUE(test::alive(pid));
  }
  EXPECT_FALSE(test::alive(pid));
}

}  // namespace
}  // namespace holdfast::cli::demo
