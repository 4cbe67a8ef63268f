#pragma once

#include "spi/operation.hpp"

namespace holdfast::core {

using spi::answer_of;
using spi::Operation;

}  // namespace holdfast::core
