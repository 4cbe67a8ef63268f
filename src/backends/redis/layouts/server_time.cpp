#include "backends/redis/layouts/server_time.hpp"

#include <charconv>
#include <utility>

namespace holdfast::redis {

void ask_time(Topology& topology, spi::Done<std::chrono::system_clock::time_point> done) {
  topology.send(
      {.command = Command().add("TIME"), .on_reply = [done = std::move(done)](spi::Result<Reply*> result) mutable {
         if (!result.ok()) return done(std::move(result.failure()));
         const auto& parts = result.value()->elements;
         long long seconds = 0;
         long long microseconds = 0;
         if (parts.size() == 2) {
           std::from_chars(parts[0].text.data(), parts[0].text.data() + parts[0].text.size(), seconds);
           std::from_chars(parts[1].text.data(), parts[1].text.data() + parts[1].text.size(), microseconds);
         }
         if (seconds == 0) {
           return done(spi::Failure{Errc::store_failed, "the server gave an unexpected reply to TIME"});
         }
         done(time_of_day(std::chrono::seconds(seconds) + std::chrono::microseconds(microseconds)));
       }});
}

}  // namespace holdfast::redis
