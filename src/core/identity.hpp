#pragma once

#include <string>

#include "core/random.hpp"
#include "holdfast/status.hpp"

namespace holdfast::core {

/// Who this process is. The command is its name alone: arguments may hold secrets.
ClientIdentity this_process(std::string label, std::string command, Random& random);

}  // namespace holdfast::core
