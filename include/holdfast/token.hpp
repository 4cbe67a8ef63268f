#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <version>
#ifdef __cpp_lib_format
#include <format>
#endif

namespace holdfast {

/// A fencing token: each later holder of a name has a strictly larger one, for ever.
///
/// Send the token along with every write to the protected resource, and let the resource refuse a token that is smaller
/// than the largest one it has seen. Then a holder that was paused and lost its lock can do no harm when it wakes up.
/// Tokens of different names must not be compared.
///
///     if (token < largest_seen) throw std::runtime_error("stale writer");
///     largest_seen = token;
///
/// The value is the store's number, shifted left by 8 bits, plus the local turn (see ClientOptions::local_turns).
class Token {
 public:
  constexpr Token() noexcept = default;
  constexpr explicit Token(std::uint64_t value) noexcept : value_(value) {}

  constexpr std::uint64_t value() const noexcept { return value_; }
  friend constexpr auto operator<=>(Token, Token) noexcept = default;
  /// Writes the value in decimal, whatever the stream's base and locale.
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, Token token) {
    return out << std::to_string(token.value_);
  }

 private:
  std::uint64_t value_ = 0;
};

inline std::string to_string(Token token) { return std::to_string(token.value()); }

}  // namespace holdfast

template <>
struct std::hash<holdfast::Token> {
  std::size_t operator()(holdfast::Token token) const noexcept { return std::hash<std::uint64_t>()(token.value()); }
};

#ifdef __cpp_lib_format
template <>
struct std::formatter<holdfast::Token> : std::formatter<std::uint64_t> {
  template <class Context>
  auto format(holdfast::Token token, Context& context) const {
    return std::formatter<std::uint64_t>::format(token.value(), context);
  }
};
#endif
