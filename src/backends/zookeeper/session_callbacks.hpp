#pragma once

#include <zookeeper/zookeeper.h>

#include "backends/zookeeper/session.hpp"

namespace holdfast::zookeeper {

/// What ZooKeeper's library calls.
struct Session::Callbacks {
  static void watcher(zhandle_t* handle, int type, int state, const char* path, void* context);
  static void authenticated(int code, const void* context);

  // How requests ended; `exchange` is theirs, and ends here.
  static void created(int code, const char* path, const Stat* stat, const void* exchange);
  static void done(int code, const void* exchange);
  static void with_stat(int code, const Stat* stat, const void* exchange);
  static void with_data(int code, const char* data, int length, const Stat* stat, const void* exchange);
  static void with_children(int code, const String_vector* names, const Stat* stat, const void* exchange);
  static void synced(int code, const char* path, const void* exchange);

 private:
  static void finish(int code, Reply reply, const void* exchange);
};

}  // namespace holdfast::zookeeper
