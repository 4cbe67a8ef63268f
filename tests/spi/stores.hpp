#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "spi/backend_under_test.hpp"
#include "stores/fixture.hpp"

namespace holdfast::spi_suite {

using test::Capabilities;
using test::FixtureKind;
using test::FixtureKinds;

/// What the suite runs on: stores with a line of claims, each with one server.
FixtureKinds line_stores();

/// Stores without a line: claims look from time to time. They have a chapter of their own, and share those that are not
/// about claims.
FixtureKinds polling_stores();

/// Those of `kinds` that can do something.
FixtureKinds those_with(bool Capabilities::* can, FixtureKinds kinds);

/// One case against one fresh store.
class StoreTest : public testing::TestWithParam<const FixtureKind*> {
 protected:
  static const Capabilities& can() { return GetParam()->capabilities; }
  /// Whether claims do not end one by one, but with their client.
  static bool has_sessions() { return !can().fixed_leases; }
  std::string url() const { return store_->url(); }
  /// What becomes of a lease that is asked for.
  milliseconds given(milliseconds lease) const {
    const milliseconds unit = can().lease_unit;
    return (lease + unit - 1ms) / unit * unit;
  }
  /// The claim's short lease has ended, or will. Where leases are sessions, that takes a release.
  static void let_lapse(BackendUnderTest& client, int claim, const LockName& name = "name") {
    if (has_sessions()) client.release(claim, name);
  }

 private:
  const std::unique_ptr<test::Fixture> store_ = GetParam()->make();
};

// The chapters.
class LineOrder : public StoreTest {};
class SharedMode : public StoreTest {};
class Permits : public StoreTest {};
class Requests : public StoreTest {};
class Leases : public StoreTest {};
class LockDelays : public StoreTest {};
class Events : public StoreTest {};
class GrantNumbers : public StoreTest {};
class AdministrationOf : public StoreTest {};
class RegistersOf : public StoreTest {};
class PartNames : public StoreTest {};
class Closing : public StoreTest {};
class Polling : public StoreTest {};

}  // namespace holdfast::spi_suite
