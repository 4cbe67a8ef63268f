// A server whose answers are distorted on their way: by a fault, or by somebody who wants to hurt its clients. What
// they then believe may be wrong, but nothing crashes, outlasts its time or throws anything but an Error; and when the
// answers are right again, they are served.

#include <gtest/gtest.h>

#include "conformance/fixture.hpp"
#include "support/every_call.hpp"
#include "support/proxy.hpp"
#include "support/rounds.hpp"

namespace holdfast::conformance {
namespace {

using test::Proxy;

class DistortionConformance : public testing::TestWithParam<const test::FixtureKind*> {
 protected:
  const std::unique_ptr<test::Fixture> store_ = GetParam()->make_with_own_server();
  Proxy proxy_{test::port_in(store_->url())};
  const std::string url_ = GetParam()->url_at(proxy_.address());
};

TEST_P(DistortionConformance, HurtsNobody) {
  const LockOptions options = {.ttl = GetParam()->capabilities.short_ttl};
  const auto what = GetParam()->capabilities.reads_anything ? Proxy::Distort::anything : Proxy::Distort::texts;
  int succeeded = 0;
  std::uint32_t seed = 0;
  for (test::Rounds rounds(20, 4s); rounds.next();) {
    SCOPED_TRACE(++seed);
    Client client(url_, {.connect_timeout = 300ms, .close_timeout = 100ms, .log = [](LogLevel, std::string_view) {}});
    static_cast<void>(test::succeeds([&] { Mutex(client, "warm").acquire().release(); }));
    Client direct(store_->url());
    Hold obstacle = Mutex(direct, "patient").acquire();
    proxy_.distort_replies(3, seed, what);
    test::Background patient([&](std::stop_token stop) { return Mutex(client, "patient", options).acquire(stop); });
    succeeded += test::make_every_call(client, options);
    proxy_.distort_replies(0);
    obstacle.release();
    EXPECT_TRUE(patient.finishes()) << "a wait that began when the answers were wrong, unless one of them ended it";
    bool served = false;  // not at once: what was distorted may still be on its way
    const auto ask = [&] { served = Mutex(client, "again", options).try_acquire_for(1s).has_value(); };
    EXPECT_TRUE(test::eventually([&] { return test::succeeds(ask) && served; }));
    static_cast<void>(test::make_every_call(client, options));
    Client next(url_);
    EXPECT_TRUE(Mutex(next, "next", options).try_acquire_for(test::patience));
  }
  EXPECT_GT(proxy_.distorted(), 0U);
  EXPECT_GT(succeeded, 0) << "not every answer was distorted";
}

INSTANTIATE_TEST_SUITE_P(Store, DistortionConformance, testing::ValuesIn(test::kinds_where([](const auto& can) {
                           return can.has_server && can.servers == 1;
                         })),
                         test::name_of_store);

}  // namespace
}  // namespace holdfast::conformance
