#pragma once

#include <memory>

#include "backends/etcd/wire.hpp"

namespace holdfast::etcd {

/// Loads the module that contains gRPC, once, and never unloads it. It is searched for beside the library (or the
/// program that contains the library), then in the directory that it was installed to, then where the system looks for
/// libraries, and never in the current directory. Blocks, because gRPC is large. Throws what check_not_forked() throws,
/// and Error (Errc::unsupported) if the module cannot be loaded; the message lists where it was searched for.
MakeWire load_module();

/// Throws Error (Errc::unsupported) if this process was forked after its parent had used gRPC, which does not survive
/// that.
void check_not_forked();

}  // namespace holdfast::etcd
