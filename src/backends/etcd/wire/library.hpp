#pragma once

#include <grpc/grpc.h>

namespace holdfast::etcd::wire {

/// Keeps gRPC running while it exists. gRPC would also run without it, but then it ends at some later time on a thread of
/// its own, which a program that has closed its last client may still meet when it exits.
class Library {
 public:
  Library() { grpc_init(); }
  ~Library() { grpc_shutdown_blocking(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

}  // namespace holdfast::etcd::wire
