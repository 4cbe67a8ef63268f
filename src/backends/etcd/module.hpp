#pragma once

#include <memory>

#include "backends/etcd/wire.hpp"

namespace holdfast::etcd {

/// Loads the module that speaks gRPC, unless that has been done, and never unloads it. It is looked for beside the
/// library (or the program that contains it), then where it was installed to, then where the system looks for
/// libraries. Blocks: gRPC is large. Throws Error (Errc::unsupported) that says where it was looked for, and what
/// check_not_forked() throws.
MakeWire load_module();

/// Throws Error (Errc::unsupported) if gRPC was used before this process was forked, which it does not survive.
void check_not_forked();

}  // namespace holdfast::etcd
