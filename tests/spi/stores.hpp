#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "spi/backend_under_test.hpp"

namespace holdfast::spi_suite {

/// A store of its own, empty, that nobody else uses; gone with the last copy.
struct FreshStore {
  std::string url = {};
  std::shared_ptr<void> place = {};  ///< where it keeps its files
};

struct StoreKind {
  std::string scheme = {};  ///< also part of the names of the tests
  FreshStore (*make)() = nullptr;
  bool notices_deaths = false;        ///< of clients, before their leases end
  bool sessions = false;              ///< claims do not end one by one, but with their client
  bool lock_delay = true;             ///< names can stay closed after an unclean end
  int crowd = 700;                    ///< so many claims of one name at once
  int steps = 6000;                   ///< that a long script may have
  milliseconds shortest_lease = 1ms;  ///< shorter ones are given this length, others whole multiples of it
};

/// What the suite runs on: a store joins with a line in stores.cpp.
const std::vector<StoreKind>& store_kinds();

/// Those of them whose claims have leases of their own.
const std::vector<StoreKind>& lease_kinds();

/// Those of them that have a lock_delay.
const std::vector<StoreKind>& kinds_with_lock_delay();

/// Stores without a line: claims look from time to time. They have a chapter of their own, and share those that are not
/// about claims.
const std::vector<StoreKind>& polling_kinds();

inline void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.scheme; }
std::string name_of(const testing::TestParamInfo<StoreKind>& info);

/// One case against one fresh store.
class StoreTest : public testing::TestWithParam<StoreKind> {
 protected:
  std::string url() const { return store_.url; }
  /// What becomes of a lease that is asked for.
  milliseconds given(milliseconds lease) const {
    const milliseconds unit = GetParam().shortest_lease;
    return (lease + unit - 1ms) / unit * unit;
  }
  /// The claim's short lease has ended, or will. Where leases are sessions, that takes a release.
  static void let_lapse(BackendUnderTest& client, int claim, const LockName& name = "name") {
    if (GetParam().sessions) client.release(claim, name);
  }

 private:
  const FreshStore store_ = GetParam().make();
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
