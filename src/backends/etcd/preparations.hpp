#pragma once

#include <optional>

#include "backends/etcd/wire.hpp"
#include "kit/url/options.hpp"
#include "spi/result.hpp"

namespace holdfast::etcd {

/// What is needed before a server can be contacted: the module that contains gRPC, and the contents of the files that
/// the URL names. Loading them may take long, so it is not done under the monitor.
struct Preparations {
  MakeWire make_wire = nullptr;
  std::optional<WireTls> tls = {};

  /// Blocks. A failure says which file cannot be used, or why the module cannot be loaded. `files`: empty without TLS.
  static spi::Result<Preparations> made_from(const std::optional<kit::TlsFiles>& files);
};

}  // namespace holdfast::etcd
