#pragma once

#include <cstddef>

#include "holdfast/move_only_function.hpp"

namespace holdfast::base {

/// The public API's callable, under the name that the library's own code calls it by.
template <class Signature, std::size_t inline_bytes = 48>
using Callback = MoveOnlyFunction<Signature, inline_bytes>;

using Task = Callback<void()>;

}  // namespace holdfast::base
