#pragma once

// For docs/writing-a-backend.md: the interface that a backend implements, and the suite that it joins.

#include <atomic>
#include <memory>
#include <string>

#include "conformance/fixture.hpp"
#include "spi/backend.hpp"

namespace spi = holdfast::spi;
using holdfast::Errc;
using holdfast::LockName;

struct Scene {
  spi::Loop& loop_;
};
