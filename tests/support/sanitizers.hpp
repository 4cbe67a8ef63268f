#pragma once

namespace holdfast::test {

/// Whether this program is slow on purpose. GCC defines a macro, Clang answers a question.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitized = true;
#elif defined(__has_feature)
inline constexpr bool address_sanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool address_sanitized = false;
#endif

}  // namespace holdfast::test
