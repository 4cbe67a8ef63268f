#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include "holdfast/error.hpp"
#include "holdfast/register.hpp"
#include "holdfast/token.hpp"

namespace holdfast {

/// The contents of a FencedRegister. Version 0 means that it was never written.
struct FencedValue {
  std::string value = {};
  Token token = {};
  std::uint64_t version = 0;
};

/// A Register that refuses late writers. It stores each value together with the token that it was written with, and a
/// smaller token cannot replace it. The lock may live in another store than the register.
///
///     holdfast::Hold hold = mutex.acquire();
///     holdfast::FencedRegister state(client, "import/position");
///     if (!state.set("4711", hold.token())) throw std::runtime_error("stale writer");
///
/// Check and write are a single step of the store. Equal tokens are admitted. In the store this is the Register of the
/// same name with the value "TOKEN\nVALUE", where TOKEN is in decimal. Whoever writes that register directly bypasses
/// the fence.
///
/// Thread-safe. Errors are those of Register, and Errc::store_failed if the register contains something else. After
/// Errc::in_doubt, set() may be repeated with the same value and token.
class FencedRegister {
 public:
  /// Does not contact the store. Throws Errc::invalid_argument if the name is invalid.
  FencedRegister(Client& client, const LockName& name) : register_(client, name) {}

  FencedValue get() { return parsed(register_.get()); }

  /// Returns false and writes nothing if a larger token has written before. Repeats the attempt only if somebody else
  /// has written in between.
  [[nodiscard]] bool set(std::string value, Token token) {
    const std::string text = to_string(token) + '\n' + std::move(value);
    Versioned now = register_.get();
    while (true) {
      const std::uint64_t version = now.version;
      if (token < parsed(std::move(now)).token) return false;
      Written outcome = register_.compare_and_set(version, text);
      if (outcome) return true;
      now = std::move(outcome.now);
    }
  }

  const LockName& name() const noexcept { return register_.name(); }

 private:
  FencedValue parsed(Versioned stored) const {
    if (stored.version == 0) return {};
    const char* const end = stored.value.data() + stored.value.size();
    std::uint64_t token = 0;
    const auto [rest, error] = std::from_chars(stored.value.data(), end, token);
    if (error != std::errc() || rest == end || *rest != '\n') {
      throw Error(Errc::store_failed, "the register '" + name().text() +
                                          "' does not hold a token and a value; somebody writes it without its fence");
    }
    stored.value.erase(0, static_cast<std::size_t>(rest + 1 - stored.value.data()));
    return {.value = std::move(stored.value), .token = Token(token), .version = stored.version};
  }

  Register register_;
};

}  // namespace holdfast
