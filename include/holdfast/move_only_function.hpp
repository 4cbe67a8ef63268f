#pragma once

#include <cstddef>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

namespace holdfast {

/// A callable that can be moved but not copied, so that it may own what only has one owner: a Hold, a promise, a
/// unique_ptr. (std::move_only_function is C++23.)
///
///     auto report = std::make_unique<std::string>("done");
///     holdfast::MoveOnlyFunction<void()> tell = [report = std::move(report)] { std::cout << *report << "\n"; };
///     tell();
///
/// A callable of at most `inline_bytes` lives inside the object, without an allocation. Not thread-safe.
template <class Signature, std::size_t inline_bytes = 48>
class MoveOnlyFunction;

template <class R, class... Args, std::size_t inline_bytes>
class MoveOnlyFunction<R(Args...), inline_bytes> {
 public:
  /// An empty function.
  MoveOnlyFunction() noexcept = default;
  MoveOnlyFunction(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor): as std::function has it

  /// Empty if `function` is a null pointer or an empty function.
  template <class F>
    requires(!std::is_same_v<std::decay_t<F>, MoveOnlyFunction> && std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
  MoveOnlyFunction(F&& function) {  // NOLINT(google-explicit-constructor): a lambda is a function
    using Stored = std::decay_t<F>;
    if constexpr (std::is_constructible_v<Stored, std::nullptr_t> && requires { function == nullptr; }) {
      if (function == nullptr) return;
    }
    if constexpr (fits<Stored>) {
      ::new (static_cast<void*>(&storage_)) Stored(std::forward<F>(function));
      operations_ = &inline_operations<Stored>;
    } else {
      ::new (static_cast<void*>(&storage_)) Stored*(new Stored(std::forward<F>(function)));
      operations_ = &heap_operations<Stored>;
    }
  }

  MoveOnlyFunction(MoveOnlyFunction&& other) noexcept { take(other); }
  MoveOnlyFunction& operator=(MoveOnlyFunction&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~MoveOnlyFunction() { reset(); }

  explicit operator bool() const noexcept { return operations_ != nullptr; }
  friend bool operator==(const MoveOnlyFunction& function, std::nullptr_t) noexcept { return !function; }

  /// REQUIRES: *this is not empty.
  R operator()(Args... args) {  // NOLINT(performance-unnecessary-value-param): moved on, or as small as a reference
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it loses track of functions that are moved before the call
    return operations_->call(&storage_, std::forward<Args>(args)...);
  }

  /// Destroys the callable; *this is then empty.
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
  static R call(F& function, Args&&... args) {
    if constexpr (std::is_void_v<R>) {
      static_cast<void>(std::invoke(function, std::forward<Args>(args)...));
    } else {
      return std::invoke(function, std::forward<Args>(args)...);
    }
  }

  template <class F>
  static constexpr Operations inline_operations = {
      [](void* at, Args&&... args) -> R { return call(*static_cast<F*>(at), std::forward<Args>(args)...); },
      [](void* from, void* to) noexcept {
        ::new (to) F(std::move(*static_cast<F*>(from)));
        static_cast<F*>(from)->~F();
      },
      [](void* at) noexcept { static_cast<F*>(at)->~F(); }};

  template <class F>
  static constexpr Operations heap_operations = {
      [](void* at, Args&&... args) -> R { return call(**static_cast<F**>(at), std::forward<Args>(args)...); },
      [](void* from, void* to) noexcept { ::new (to) F*(*static_cast<F**>(from)); },
      [](void* at) noexcept { delete *static_cast<F**>(at); }};

  void take(MoveOnlyFunction& other) noexcept {
    if (other.operations_ == nullptr) return;
    operations_ = std::exchange(other.operations_, nullptr);
    operations_->move(&other.storage_, &storage_);
  }

  alignas(void*) std::byte storage_[inline_bytes];  // NOLINT(modernize-avoid-c-arrays): raw
  const Operations* operations_ = nullptr;
};

}  // namespace holdfast
