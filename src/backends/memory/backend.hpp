#pragma once

#include "spi/backend.hpp"

namespace holdfast::memory {

/// `memory:` and `memory:name`: one store per name inside this process, for tests and examples.
///
/// A store, with its claims, numbers and registers, lasts while any client of the process has it open; when the last
/// one closes it is gone, and the next to open that name starts with an empty one, counting from 1.
const spi::BackendFactory& factory();

}  // namespace holdfast::memory
