#pragma once

#include <cstdint>
#include <vector>

#include "sim/checker.hpp"
#include "spi/claims.hpp"

namespace holdfast::sim {

/// A history, told step by step. Times are in milliseconds; everything is about the name 'a', by client `who`.
class Story {
 public:
  using Standing = spi::ClaimAnswer::Standing;

  Story() {
    history_.clients = 4;
    history_.names = 2;
    history_.longest_delay = microseconds(1500);
    history_.connect_timeout = milliseconds(300);
    for (std::uint8_t client = 0; client < history_.clients; ++client) add({.what = What::opened, .client = client});
  }

  Story& at(double time) {
    now_ = moment(time);
    return *this;
  }
  Story& by(std::uint8_t client) {
    client_ = client;
    return *this;
  }
  /// As real threads write it down, up to 20 ms late.
  Story& not_exact() {
    history_.exact = false;
    history_.noise = milliseconds(20);
    history_.longest_lease = milliseconds(100);
    return *this;
  }
  Story& bare_numbers() {
    history_.local_turns = false;
    return *this;
  }

  Story& enters(std::uint32_t turn, std::uint32_t ttl = 100, Moment deadline = never, bool refuses = false) {
    return add({.until = deadline, .subject = turn, .length = ttl, .what = What::entered, .detail = refuses});
  }
  Story& granted(std::uint32_t turn, std::uint64_t number, double until, std::uint64_t local = 0,
                 bool listens = false) {
    return add({.until = moment(until),
                .value = history_.local_turns ? number << 8U | local : number,
                .subject = turn,
                .length = 100,
                .what = What::granted,
                .detail = listens});
  }
  Story& turn(What what, std::uint32_t turn, std::uint8_t detail = 0, double until = 0) {
    return add({.until = moment(until), .subject = turn, .what = what, .detail = detail});
  }
  Story& forgets(double until) {
    return add({.until = moment(until), .what = What::forgot, .client = Event::everybody});
  }
  Story& told(std::uint32_t turn, HoldState state) {
    return this->turn(What::told, turn, static_cast<std::uint8_t>(state));
  }
  Story& writes(std::uint32_t turn, std::uint64_t token, bool accepted) {
    return add({.value = token, .subject = turn, .what = What::wrote, .detail = accepted});
  }

  Story& claim(What what, std::uint32_t claim, Request request, Standing standing = Standing::granted,
               std::uint32_t lease = 100) {
    return add({.subject = claim,
                .length = lease,
                .what = what,
                .detail = static_cast<std::uint8_t>(request),
                .standing = static_cast<std::uint8_t>(standing)});
  }
  /// Sent, and executed half a millisecond later.
  Story& asks(std::uint32_t claim, Standing standing, std::uint32_t lease = 100) {
    this->claim(What::sent, claim, Request::acquire, standing, lease);
    now_ += microseconds(500);
    return this->claim(What::executed, claim, Request::acquire, standing, lease);
  }
  Story& gives_back(std::uint32_t claim) {
    this->claim(What::sent, claim, Request::release);
    now_ += microseconds(500);
    return this->claim(What::executed, claim, Request::release);
  }
  Story& client(What what, double until = 0, std::uint64_t value = 0) {
    return add({.until = moment(until), .value = value, .what = what});
  }

  std::vector<Rule> broken() const {
    std::vector<Rule> rules;
    for (const Violation& violation : check(history_)) rules.push_back(violation.rule);
    return rules;
  }

 private:
  static Moment moment(double time) { return Moment(Duration(static_cast<std::int64_t>(time * 1e6))); }

  Story& add(Event event) {
    event.at = now_;
    if (event.what != What::opened) event.client = client_;
    history_.events.push_back(event);
    return *this;
  }

  History history_;
  Moment now_ = {};
  std::uint8_t client_ = 0;
};

inline Moment at_ms(int time) { return Moment(milliseconds(time)); }

}  // namespace holdfast::sim
