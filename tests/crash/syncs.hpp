#pragma once

#include <sys/stat.h>

namespace holdfast::crash {

/// The fsync() and fdatasync() of this program, for SQLite and for the library: both end here.
///
/// They do nothing real, because a model says what is durable (power_loss.hpp), and no disk is as patient as the tests.
class Syncs {
 public:
  /// From now on they are the system's own.
  static void make_real();

  /// Sees every sync, whoever makes it. Called on any thread.
  class Observer {
   public:
    virtual ~Observer() = default;
    /// `file`: what fstat() says of the descriptor.
    virtual void sync_begins(const struct stat& file) = 0;
    virtual void synced(const struct stat& file) = 0;
  };
  /// Null: nobody. REQUIRES: nothing syncs while the observer changes.
  static void observe(Observer* observer);
};

}  // namespace holdfast::crash
