// The stores that the cases for all stores run with, and whether any is missing.

#include <gtest/gtest.h>

#include <algorithm>

#include "faults/store.hpp"
#include "stores/fixture.hpp"

namespace holdfast::faults {

std::string_view name_of(Sabotage sabotage) {
  switch (sabotage) {
    case Sabotage::restart: return "restart";
    case Sabotage::pause: return "pause";
    case Sabotage::forget_scripts: return "forget_scripts";
    case Sabotage::cut_listeners: return "cut_listeners";
    case Sabotage::cut_everybody: return "cut_everybody";
    case Sabotage::lose_replies: return "lose_replies";
    case Sabotage::compact: return "compact";
    case Sabotage::kill_leader: return "kill_leader";
    case Sabotage::pause_leader: return "pause_leader";
    case Sabotage::cut_off_leader: return "cut_off_leader";
    case Sabotage::lose_quorum: return "lose_quorum";
    case Sabotage::restart_empty: return "restart_empty";
    case Sabotage::forget: return "forget";
    case Sabotage::end_leases: return "end_leases";
    case Sabotage::forget_and_set_back: return "forget_and_set_back";
  }
  return "?";
}

void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }

namespace {

std::vector<StoreKind>& registry() {
  static std::vector<StoreKind> kinds;
  return kinds;
}

}  // namespace

RegisterStore::RegisterStore(StoreKind kind) {
  std::vector<StoreKind>& kinds = registry();
  const auto place = std::ranges::upper_bound(kinds, kind.name, {}, &StoreKind::name);
  kinds.insert(place, std::move(kind));
}

const std::vector<StoreKind>& store_kinds() { return registry(); }

std::vector<StoreKind> kinds_with_one_server() {
  std::vector<StoreKind> kinds = store_kinds();
  std::erase_if(kinds, [](const StoreKind& kind) { return kind.servers > 1; });
  return kinds;
}

TEST(StoresUnderFaults, AreAllThatProcessesShare) {
  std::vector<std::string> known;
  for (const StoreKind& kind : store_kinds()) known.push_back(kind.name);
  std::vector<std::string> shared;
  for (const test::FixtureKind* kind : test::fixture_kinds()) {
    if (kind->capabilities.separate_processes) shared.push_back(kind->name);
  }
  EXPECT_EQ(known, shared) << "a store joins with a RegisterStore in a file of tests/faults";
}

}  // namespace holdfast::faults
