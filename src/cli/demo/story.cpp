#include "cli/demo/story.hpp"

#include <array>
#include <cstdio>
#include <random>

#include "cli/demo/failure.hpp"
#include "cli/demo/gateway.hpp"
#include "cli/demo/stage.hpp"
#include "cli/text/output.hpp"
#include "cli/text/time_text.hpp"

namespace holdfast::cli::demo {
namespace {

using Kind = Event::Kind;
using std::chrono::milliseconds;

constexpr HostId a = HostId::a;
constexpr HostId b = HostId::b;

/// A lock that nobody else has.
std::string new_lock_name() {
  std::array<char, 16> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x", static_cast<unsigned>(std::random_device()()));
  return "demo/hourly-sms-" + std::string(digits.data());
}

using Job = void (*)(const HostLink&, const World&);

HostProcess::Part part(Job job, const World& world) {
  return [job, world](const HostLink& link) { job(link, world); };
}

std::string count(const ActRecord& record) {
  return std::to_string(record.senders.size()) + (record.senders.size() == 1 ? " message" : " messages");
}

milliseconds lease_in(const ActRecord& record) { return milliseconds(find(record, a, Kind::acquired)->lease_ms); }

/// A holder renews its lease before half of it is over: who takes over sooner than that did not wait for its end.
std::string why_after(milliseconds takeover, milliseconds lease) {
  return takeover < lease / 2
             ? "This store sees a process die; others wait until its lease ends, here " + human(lease) + "."
             : "The store had to wait until host-a's lease of " + human(lease) + " was over.";
}

std::string token_in(const ActRecord& record, HostId host) {
  return to_string(Token(find(record, host, Kind::acquired)->token));
}

}  // namespace

Story::Story(std::string url, std::filesystem::path folder, Pace pace, Look look, const Signals& signals)
    : url_(std::move(url)),
      lock_(new_lock_name()),
      folder_(std::move(folder)),
      pace_(pace),
      timeline_(look, base::BootClock::now()),
      signals_(signals) {}

void Story::tell() {
  print(timeline_.heading("Two hosts have the same cron job: once an hour, send the customer one SMS."));
  print("Both hosts are real processes. The lock is " + lock_ + ".\n" + timeline_.legend());
  without_lock();
  once_per_hour();
  holder_is_killed();
  holder_is_paused();
  sum_up();
}

World Story::world_of_act(int number) const {
  World world = {.url = url_, .lock = lock_, .lease = pace_.lease, .gateway = folder_ / std::to_string(number)};
  std::filesystem::create_directory(world.gateway);
  return world;
}

ActRecord Story::checked(const std::vector<Event>& events, const World& world,
                         std::string (*objection)(const ActRecord&)) {
  ActRecord record = {.events = events, .senders = PhoneGateway(world.gateway).senders()};
  const std::string wrong = objection(record);
  if (!wrong.empty()) throw Failure("this act did not come out as it should: " + wrong);
  return record;
}

void Story::without_lock() {
  print(timeline_.act(1, "no lock", "Cron starts the job on both hosts, and neither knows of the other."));
  const World world = world_of_act(1);
  Stage stage(timeline_, signals_);
  stage.pause(pace_.beat);
  stage.enter(a, part(send_without_lock, world));
  stage.await(a, Kind::begins);
  stage.enter(b, part(send_without_lock, world));
  stage.await(b, Kind::begins);
  stage.pause(pace_.beat);
  stage.cue(a);
  stage.cue(b);
  const ActRecord record = checked(stage.finish(), world, objection_to_no_lock);
  print(timeline_.result(Mood::bad, count(record) + ": the customer gets it twice."));
  stage.pause(2 * pace_.beat);
}

void Story::once_per_hour() {
  print(timeline_.act(2, "one lock, once per hour", "The same with a lock that also remembers when the job was done."));
  const World world = world_of_act(2);
  Stage stage(timeline_, signals_);
  stage.pause(pace_.beat);
  stage.enter(a, part(send_once_per_hour, world));
  stage.await(a, Kind::acquired);
  stage.pause(pace_.beat);
  stage.enter(b, part(send_once_per_hour, world));
  stage.cue(b);  // nothing but the lock shall keep it from sending
  stage.await(b, Kind::waits);
  stage.pause(2 * pace_.beat);
  stage.cue(a);
  const ActRecord record = checked(stage.finish(), world, objection_to_once_per_hour);
  print(timeline_.result(Mood::good, count(record) + ": host-b waited, saw that the job was done, and skipped it."));
  stage.pause(3 * pace_.beat);
}

void Story::holder_is_killed() {
  print(timeline_.act(3, "kill -9", "The next hour. host-a dies in the middle of the job and gives nothing back."));
  const World world = world_of_act(3);
  Stage stage(timeline_, signals_);
  stage.pause(pace_.beat);
  stage.enter(a, part(send_under_lock, world));
  stage.await(a, Kind::checked);
  stage.pause(pace_.beat);
  stage.enter(b, part(send_under_lock, world));
  stage.cue(b);
  stage.await(b, Kind::waits);
  stage.pause(2 * pace_.beat);
  stage.kill(a);
  const ActRecord record = checked(stage.finish(), world, objection_to_kill);
  takeover_after_kill_ = takeover_time(record, Kind::killed);
  print(timeline_.result(Mood::good, count(record) + ": host-b had the lock " + human(takeover_after_kill_) +
                                         " after the kill. " + why_after(takeover_after_kill_, lease_in(record))));
  stage.pause(3 * pace_.beat);
}

void Story::holder_is_paused() {
  print(
      timeline_.act(4, "a pause",
                    "The next hour. host-a is paused just before it sends, until its lease is over. When it wakes up, "
                    "it goes on where it was."));
  const World world = world_of_act(4);
  Stage stage(timeline_, signals_);
  stage.pause(pace_.beat);
  stage.enter(a, part(send_under_lock, world));
  stage.await(a, Kind::checked);
  // Before the first renewal: stopped in the middle of one, it would keep the embedded store's file to itself.
  stage.pause(pace_.lease / 10);
  stage.stop(a);
  stage.enter(b, part(send_under_lock, world));
  stage.cue(b);
  stage.await(b, Kind::sent);
  stage.pause(pace_.beat);
  stage.resume(a);
  stage.cue(a);
  const ActRecord record = checked(stage.finish(), world, objection_to_pause);
  print(timeline_.result(
      Mood::good,
      count(record) + ": host-b had the lock " + human(takeover_time(record, Kind::stopped)) +
          " after the pause began, when host-a's lease was over. host-a's message came late, and the gateway "
          "refused it: each new holder gets a larger token."));
  print("   host-a " + token_in(record, a) + " < host-b " + token_in(record, b) + "\n");
  stage.pause(2 * pace_.beat);
}

void Story::sum_up() const {
  print("\n" + timeline_.heading("What you saw"));
  print("  no lock          two messages\n");
  print("  one lock         one message, also when both hosts start the job\n");
  print("  a dead holder    the other host took over after " + human(takeover_after_kill_) + "\n");
  print("  a late holder    refused by its token, because a lock alone cannot stop it\n");
  print("\n" + timeline_.heading("Try it"));
  print("  holdfast run hourly-sms -- echo 'one at a time'\n");
  print("  holdfast run hourly-sms --once-per 1h -- echo 'once per hour'\n");
  print("  holdfast help run\n");
}

}  // namespace holdfast::cli::demo
