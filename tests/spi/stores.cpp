#include "spi/stores.hpp"

#include <algorithm>
#include <vector>

namespace holdfast::spi_suite {

FixtureKinds line_stores() {
  return test::kinds_where([](const Capabilities& can) { return can.fifo && can.servers == 1; });
}

FixtureKinds line_stores_with(bool Capabilities::* can) {
  FixtureKinds kinds = line_stores();
  std::erase_if(kinds, [&](const FixtureKind* kind) { return !(kind->capabilities.*can); });
  return kinds;
}

FixtureKinds polling_stores() {
  return test::kinds_where([](const Capabilities& can) { return !can.fifo; });
}

namespace {

using test::name_of_store;

TEST(Stores, AreTheBuiltInBackends) {
  std::vector<std::string> built_in;
  for (const spi::BackendFactory* factory : spi::built_in_backends()) built_in.emplace_back(factory->schemes.front());
  std::vector<std::string> known;
  for (const FixtureKind* kind : line_stores()) known.push_back(kind->name);
  std::ranges::sort(built_in);
  EXPECT_EQ(known, built_in) << "a backend joins all suites with a file in tests/stores";
}

INSTANTIATE_TEST_SUITE_P(Store, LineOrder, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, SharedMode, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, Permits, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, Requests, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, Leases, testing::ValuesIn(line_stores_with(&Capabilities::fixed_leases)),
                         name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, LockDelays, testing::ValuesIn(line_stores_with(&Capabilities::lock_delay)),
                         name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, Events, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, GrantNumbers, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, AdministrationOf, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, RegistersOf, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, PartNames, testing::ValuesIn(line_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, Closing, testing::ValuesIn(line_stores()), name_of_store);

INSTANTIATE_TEST_SUITE_P(PollingStore, Polling, testing::ValuesIn(polling_stores()), name_of_store);
INSTANTIATE_TEST_SUITE_P(PollingStore, RegistersOf, testing::ValuesIn(polling_stores()), name_of_store);

}  // namespace
}  // namespace holdfast::spi_suite
