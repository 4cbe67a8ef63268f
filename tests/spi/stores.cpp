#include "spi/stores.hpp"

#include <algorithm>
#include <string>

namespace holdfast::spi_suite {

FixtureKinds line_stores() {
  return test::kinds_where([](const Capabilities& can) { return can.fifo && can.servers == 1; });
}

FixtureKinds polling_stores() {
  return test::kinds_where([](const Capabilities& can) { return !can.fifo; });
}

FixtureKinds those_with(bool Capabilities::* can, FixtureKinds kinds) {
  std::erase_if(kinds, [&](const FixtureKind* kind) { return !(kind->capabilities.*can); });
  return kinds;
}

namespace {

using test::name_of_store;

/// A kind is named after the scheme of its backend, perhaps with the way it is run behind it: redis_plain.
bool belongs_to(const FixtureKind& kind, const spi::BackendFactory& factory) {
  const std::string scheme(factory.schemes.front());
  return kind.name == scheme || kind.name.starts_with(scheme + "_");
}

TEST(Stores, AreTheBuiltInBackends) {
  const auto& backends = spi::built_in_backends();
  for (const spi::BackendFactory* factory : backends) {
    EXPECT_TRUE(
        std::ranges::any_of(test::fixture_kinds(), [&](const auto* kind) { return belongs_to(*kind, *factory); }))
        << factory->schemes.front() << ": a backend joins all suites with a file in tests/stores";
  }
  for (const FixtureKind* kind : test::fixture_kinds()) {
    EXPECT_TRUE(std::ranges::any_of(backends, [&](const auto* factory) { return belongs_to(*kind, *factory); }))
        << kind->name << " is no backend of this build";
  }
}

INSTANTIATE_TEST_SUITE_P(Store, LineOrder, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, SharedMode, testing::ValuesIn(those_with(&Capabilities::shared, line_stores())),
                         name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, Permits, testing::ValuesIn(those_with(&Capabilities::permits, line_stores())),
                         name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, Requests, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, Leases, testing::ValuesIn(those_with(&Capabilities::fixed_leases, line_stores())),
                         name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, LockDelays, testing::ValuesIn(those_with(&Capabilities::lock_delay, line_stores())),
                         name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, Events, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, GrantNumbers, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, AdministrationOf, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, RegistersOf, testing::ValuesIn(those_with(&Capabilities::registers, line_stores())),
                         name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, PartNames, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, Closing, testing::ValuesIn(line_stores()), name_of_store);

INSTANTIATE_TEST_SUITE_P(PollingStore, Polling, testing::ValuesIn(polling_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(PollingStore, RegistersOf,
                         testing::ValuesIn(those_with(&Capabilities::registers, polling_stores())), name_of_store);

}  // namespace
}  // namespace holdfast::spi_suite
