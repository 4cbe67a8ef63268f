// Which stores each suite runs against.

#include "conformance/fixture.hpp"

namespace holdfast::conformance {

using test::name_of_store;

FixtureKinds every_store() { return test::fixture_kinds(); }

FixtureKinds stores_that(bool Capabilities::* can) {
  return test::kinds_where([can](const Capabilities& capabilities) { return capabilities.*can; });
}

FixtureKinds stores_that(bool Capabilities::* can, bool Capabilities::* can_also) {
  return test::kinds_where(
      [=](const Capabilities& capabilities) { return capabilities.*can && capabilities.*can_also; });
}

FixtureKinds stores_that_cannot(bool Capabilities::* can) {
  return test::kinds_where([can](const Capabilities& capabilities) { return !(capabilities.*can); });
}

// GoogleTest asks the generators when main() runs, after every fixture has registered itself.
INSTANTIATE_TEST_SUITE_P(Store, MutexConformance, testing::ValuesIn(every_store()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, RecursiveMutexConformance, testing::ValuesIn(every_store()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, HoldConformance, testing::ValuesIn(every_store()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, ClientConformance, testing::ValuesIn(every_store()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, MultiLockConformance, testing::ValuesIn(every_store()), name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, AsyncConformance, testing::ValuesIn(every_store()), name_of_store);

// A suite for which no registered store qualifies is empty, and that is no mistake.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ElectionConformance);
INSTANTIATE_TEST_SUITE_P(Store, ElectionConformance, testing::ValuesIn(stores_that(&Capabilities::registers)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RegisterConformance);
INSTANTIATE_TEST_SUITE_P(Store, RegisterConformance, testing::ValuesIn(stores_that(&Capabilities::registers)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OnceConformance);
INSTANTIATE_TEST_SUITE_P(Store, OnceConformance, testing::ValuesIn(stores_that(&Capabilities::registers)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LatchConformance);
INSTANTIATE_TEST_SUITE_P(Store, LatchConformance, testing::ValuesIn(stores_that(&Capabilities::registers)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SnowflakeConformance);
INSTANTIATE_TEST_SUITE_P(Store, SnowflakeConformance, testing::ValuesIn(stores_that(&Capabilities::registers)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NoRegisterConformance);
INSTANTIATE_TEST_SUITE_P(Store, NoRegisterConformance, testing::ValuesIn(stores_that_cannot(&Capabilities::registers)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FifoConformance);
INSTANTIATE_TEST_SUITE_P(Store, FifoConformance, testing::ValuesIn(stores_that(&Capabilities::fifo)), name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FixedLeaseConformance);
INSTANTIATE_TEST_SUITE_P(Store, FixedLeaseConformance, testing::ValuesIn(stores_that(&Capabilities::fixed_leases)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NoFixedLeaseConformance);
INSTANTIATE_TEST_SUITE_P(Store, NoFixedLeaseConformance,
                         testing::ValuesIn(stores_that_cannot(&Capabilities::fixed_leases)), name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SharedMutexConformance);
INSTANTIATE_TEST_SUITE_P(Store, SharedMutexConformance, testing::ValuesIn(stores_that(&Capabilities::shared)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NoSharedMutexConformance);
INSTANTIATE_TEST_SUITE_P(Store, NoSharedMutexConformance, testing::ValuesIn(stores_that_cannot(&Capabilities::shared)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SemaphoreConformance);
INSTANTIATE_TEST_SUITE_P(Store, SemaphoreConformance, testing::ValuesIn(stores_that(&Capabilities::permits)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NoSemaphoreConformance);
INSTANTIATE_TEST_SUITE_P(Store, NoSemaphoreConformance, testing::ValuesIn(stores_that_cannot(&Capabilities::permits)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LockDelayConformance);
INSTANTIATE_TEST_SUITE_P(Store, LockDelayConformance, testing::ValuesIn(stores_that(&Capabilities::lock_delay)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NoLockDelayConformance);
INSTANTIATE_TEST_SUITE_P(Store, NoLockDelayConformance,
                         testing::ValuesIn(stores_that_cannot(&Capabilities::lock_delay)), name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SharedStoreConformance);
INSTANTIATE_TEST_SUITE_P(Store, SharedStoreConformance,
                         testing::ValuesIn(stores_that(&Capabilities::separate_processes)), name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PrivateStoreConformance);
INSTANTIATE_TEST_SUITE_P(Store, PrivateStoreConformance,
                         testing::ValuesIn(stores_that_cannot(&Capabilities::separate_processes)), name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ServerConformance);
INSTANTIATE_TEST_SUITE_P(Store, ServerConformance, testing::ValuesIn(stores_that(&Capabilities::has_server)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BarrierConformance);
INSTANTIATE_TEST_SUITE_P(Store, BarrierConformance,
                         testing::ValuesIn(stores_that(&Capabilities::permits, &Capabilities::registers)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ListingConformance);
INSTANTIATE_TEST_SUITE_P(Store, ListingConformance, testing::ValuesIn(stores_that(&Capabilities::lists)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NoListingConformance);
INSTANTIATE_TEST_SUITE_P(Store, NoListingConformance, testing::ValuesIn(stores_that_cannot(&Capabilities::lists)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ReleaseRequestConformance);
INSTANTIATE_TEST_SUITE_P(Store, ReleaseRequestConformance,
                         testing::ValuesIn(stores_that(&Capabilities::release_requests)), name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NoReleaseRequestConformance);
INSTANTIATE_TEST_SUITE_P(Store, NoReleaseRequestConformance,
                         testing::ValuesIn(stores_that_cannot(&Capabilities::release_requests)), name_of_store);

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FixedLeaseSharedMutexConformance);
INSTANTIATE_TEST_SUITE_P(Store, FixedLeaseSharedMutexConformance,
                         testing::ValuesIn(stores_that(&Capabilities::fixed_leases, &Capabilities::shared)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FixedLeaseSemaphoreConformance);
INSTANTIATE_TEST_SUITE_P(Store, FixedLeaseSemaphoreConformance,
                         testing::ValuesIn(stores_that(&Capabilities::fixed_leases, &Capabilities::permits)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ProcessSharedMutexConformance);
INSTANTIATE_TEST_SUITE_P(Store, ProcessSharedMutexConformance,
                         testing::ValuesIn(stores_that(&Capabilities::separate_processes, &Capabilities::shared)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ProcessSemaphoreConformance);
INSTANTIATE_TEST_SUITE_P(Store, ProcessSemaphoreConformance,
                         testing::ValuesIn(stores_that(&Capabilities::separate_processes, &Capabilities::permits)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ProcessLockDelayConformance);
INSTANTIATE_TEST_SUITE_P(Store, ProcessLockDelayConformance,
                         testing::ValuesIn(stores_that(&Capabilities::separate_processes, &Capabilities::lock_delay)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ProcessReleaseRequestConformance);
INSTANTIATE_TEST_SUITE_P(Store, ProcessReleaseRequestConformance,
                         testing::ValuesIn(stores_that(&Capabilities::separate_processes,
                                                       &Capabilities::release_requests)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ProcessSnowflakeConformance);
INSTANTIATE_TEST_SUITE_P(Store, ProcessSnowflakeConformance,
                         testing::ValuesIn(stores_that(&Capabilities::separate_processes, &Capabilities::registers)),
                         name_of_store);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ServerSnowflakeConformance);
INSTANTIATE_TEST_SUITE_P(Store, ServerSnowflakeConformance,
                         testing::ValuesIn(stores_that(&Capabilities::has_server, &Capabilities::registers)),
                         name_of_store);

}  // namespace holdfast::conformance
