// The registry of fixtures.

#include "stores/fixture.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>

namespace holdfast::test {
namespace {

FixtureKinds& registry() {
  static FixtureKinds kinds;
  return kinds;
}

}  // namespace

RegisterFixture::RegisterFixture(FixtureKind kind) : kind_(std::move(kind)) {
  FixtureKinds& kinds = registry();
  kinds.insert(std::ranges::upper_bound(kinds, kind_.name, {}, &FixtureKind::name), &kind_);
}

const FixtureKinds& fixture_kinds() { return registry(); }

const FixtureKind& fixture_kind(const std::string& name) {
  const auto found = std::ranges::find(registry(), name, &FixtureKind::name);
  if (found == registry().end()) throw std::invalid_argument("no fixture of tests/stores is called " + name);
  return **found;
}

std::string new_prefix() {
  static std::atomic<int> made = 0;
  return "case-" + std::to_string(getpid()) + "-" + std::to_string(++made);
}

}  // namespace holdfast::test
