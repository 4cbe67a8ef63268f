#pragma once

#include <grpc/grpc.h>

namespace holdfast::etcd::wire {

/// gRPC runs while one exists. It would also run without, but end by and by, on a thread of its own: then a program
/// that has closed its last client may still meet that thread when it ends.
class Library {
 public:
  Library() { grpc_init(); }
  ~Library() { grpc_shutdown_blocking(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

}  // namespace holdfast::etcd::wire
