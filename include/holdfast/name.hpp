#pragma once

#include <compare>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <version>
#ifdef __cpp_lib_format
#include <format>
#endif

#include "holdfast/export.hpp"

namespace holdfast {

namespace spi {
struct PartName;
}

/// The name of a lock: 1 to 512 bytes of valid UTF-8. Every character except NUL is allowed.
///
/// Names are compared byte by byte: `A` and `a`, or `job` and `job/1`, are different locks on every store. A LockName
/// is an immutable value, so several threads may read it.
///
///     holdfast::LockName name = "invoices/2024";
class HOLDFAST_EXPORT LockName {
 public:
  static constexpr std::size_t max_bytes = 512;

  /// Throws Errc::invalid_argument; the message says what is wrong with the text.
  LockName(std::string text);
  LockName(std::string_view text) : LockName(std::string(text)) {}
  LockName(const char* text) : LockName(std::string(text)) {}

  const std::string& text() const noexcept { return text_; }

  friend bool operator==(const LockName&, const LockName&) = default;
  friend std::strong_ordering operator<=>(const LockName&, const LockName&) = default;
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const LockName& name) {
    return out << name.text_;
  }

 private:
  friend struct spi::PartName;
  LockName() = default;

  std::string text_;
};

}  // namespace holdfast

template <>
struct std::hash<holdfast::LockName> {
  std::size_t operator()(const holdfast::LockName& name) const noexcept {
    return std::hash<std::string>()(name.text());
  }
};

#ifdef __cpp_lib_format
template <>
struct std::formatter<holdfast::LockName> : std::formatter<std::string_view> {
  template <class Context>
  auto format(const holdfast::LockName& name, Context& context) const {
    return std::formatter<std::string_view>::format(name.text(), context);
  }
};
#endif
