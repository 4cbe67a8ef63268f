#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace holdfast::base {

/// A move-only callable. Small ones live inside it, so that the hot paths allocate nothing. (std::move_only_function is
/// C++23.)
template <class Signature, std::size_t inline_bytes = 48>
class Callback;

template <class R, class... Args, std::size_t inline_bytes>
class Callback<R(Args...), inline_bytes> {
 public:
  Callback() noexcept = default;

  template <class F>
    requires(!std::is_same_v<std::decay_t<F>, Callback> && std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
  Callback(F&& function) {  // NOLINT(google-explicit-constructor): a lambda is a callback
    using Stored = std::decay_t<F>;
    if constexpr (fits<Stored>) {
      ::new (static_cast<void*>(&storage_)) Stored(std::forward<F>(function));
      operations_ = &inline_operations<Stored>;
    } else {
      ::new (static_cast<void*>(&storage_)) Stored*(new Stored(std::forward<F>(function)));
      operations_ = &heap_operations<Stored>;
    }
  }

  Callback(Callback&& other) noexcept { take(other); }
  Callback& operator=(Callback&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~Callback() { reset(); }

  explicit operator bool() const noexcept { return operations_ != nullptr; }
  /// REQUIRES: *this is not empty.
  R operator()(Args... args) {  // NOLINT(performance-unnecessary-value-param): moved on, or as small as a reference
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it loses track of callbacks that are moved before the call
    return operations_->call(&storage_, std::forward<Args>(args)...);
  }

  void reset() noexcept {
    if (operations_ != nullptr) std::exchange(operations_, nullptr)->destroy(&storage_);
  }

 private:
  struct Operations {
    R (*call)(void*, Args&&...);
    void (*move)(void* from, void* to) noexcept;
    void (*destroy)(void*) noexcept;
  };

  template <class F>
  static constexpr bool fits =
      sizeof(F) <= inline_bytes && alignof(F) <= alignof(void*) && std::is_nothrow_move_constructible_v<F>;

  template <class F>
  static constexpr Operations inline_operations = {
      [](void* at, Args&&... args) -> R { return (*static_cast<F*>(at))(std::forward<Args>(args)...); },
      [](void* from, void* to) noexcept {
        ::new (to) F(std::move(*static_cast<F*>(from)));
        static_cast<F*>(from)->~F();
      },
      [](void* at) noexcept { static_cast<F*>(at)->~F(); }};

  template <class F>
  static constexpr Operations heap_operations = {
      [](void* at, Args&&... args) -> R { return (**static_cast<F**>(at))(std::forward<Args>(args)...); },
      [](void* from, void* to) noexcept { ::new (to) F*(*static_cast<F**>(from)); },
      [](void* at) noexcept { delete *static_cast<F**>(at); }};

  void take(Callback& other) noexcept {
    if (other.operations_ == nullptr) return;
    operations_ = std::exchange(other.operations_, nullptr);
    operations_->move(&other.storage_, &storage_);
  }

  alignas(void*) std::byte storage_[inline_bytes];  // NOLINT(modernize-avoid-c-arrays): raw
  const Operations* operations_ = nullptr;
};

using Task = Callback<void()>;

}  // namespace holdfast::base
