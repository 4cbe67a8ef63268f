#pragma once

#include <optional>
#include <string>

#include "backends/sqlite/machine.hpp"
#include "spi/backend.hpp"

namespace holdfast::sqlite {

/// `sqlite:/path/file.db`: a store in a file, for the processes of one user on one host.
const spi::BackendFactory& factory();

/// The same for a test that pretends to be on another machine, or to have been restarted.
std::unique_ptr<spi::Backend> open(std::string path, std::optional<Machine> pretended,
                                   const spi::BackendContext& context);

}  // namespace holdfast::sqlite
