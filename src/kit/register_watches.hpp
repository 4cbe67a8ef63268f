#pragma once

#include <chrono>
#include <deque>

#include "holdfast/name.hpp"
#include "spi/loop.hpp"
#include "spi/result.hpp"

namespace holdfast::kit {

/// The register watches of one client that are not answered yet. Under the client's monitor.
class RegisterWatches {
 public:
  /// How long a watch waits for a change before it is answered in any case.
  static constexpr base::Duration patience = std::chrono::seconds(1);

  using OnLastGone = base::Callback<void(const LockName&)>;

  /// `on_last_gone`: the last watch of that name has lost its patience. REQUIRES: `loop` outlives this.
  RegisterWatches(spi::Loop& loop, OnLastGone on_last_gone);

  void add(const LockName& name, spi::Done<> done);
  void changed(const LockName& name);
  /// Answers all of them.
  void close(const spi::Failure& failure);

 private:
  struct Watch {
    LockName name;
    base::Instant until;
    spi::Done<> done;
  };

  void give_up();
  void answer(Watch& watch, spi::Result<> result);

  spi::Loop& loop_;
  OnLastGone on_last_gone_;
  std::deque<Watch> watches_;  // all are equally patient: the oldest gives up first
  spi::Timer timer_;
};

}  // namespace holdfast::kit
