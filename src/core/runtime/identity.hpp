#pragma once

#include <string>

#include "base/random.hpp"
#include "holdfast/status.hpp"

namespace holdfast::core {

/// Who this process is. The command is its name alone: arguments may hold secrets.
ClientIdentity this_process(std::string label, std::string command, base::Random& random);

}  // namespace holdfast::core
