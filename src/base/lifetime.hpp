#pragma once

#include <memory>
#include <utility>

namespace holdfast::base {

/// A member of an object that may end before a callback which refers to it has run. The callback takes a watch() along
/// and asks it before it touches the object:
///
///     loop.defer([this, here = lifetime_.watch()] {
///       if (here.lasts()) go_on();
///     });
///
/// Not thread-safe, except that watches may be copied and destroyed anywhere.
class Lifetime {
 public:
  class Watch {
   public:
    /// False from the moment that the Lifetime is destroyed or end() is called.
    bool lasts() const { return *lasts_; }

   private:
    friend class Lifetime;
    explicit Watch(std::shared_ptr<const bool> lasts) : lasts_(std::move(lasts)) {}

    std::shared_ptr<const bool> lasts_;
  };

  Lifetime() = default;
  ~Lifetime() { end(); }
  Lifetime(const Lifetime&) = delete;
  Lifetime& operator=(const Lifetime&) = delete;

  Watch watch() const { return Watch(lasts_); }
  /// Ends it before the object does. May be called again.
  void end() { *lasts_ = false; }

 private:
  const std::shared_ptr<bool> lasts_ = std::make_shared<bool>(true);
};

}  // namespace holdfast::base
