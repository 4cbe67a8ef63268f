#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

#include "backends/redis/protocol/script.hpp"

namespace holdfast::redis {

/// A command as the server reads it, part by part. Ours and not hiredis' formatter, because a script's request must be
/// written a second time, with the text in place of the digest, when the server has forgotten the script.
class Command {
 public:
  /// `bytes`: about how long it becomes.
  explicit Command(std::size_t bytes) { body_.reserve(bytes); }
  Command() = default;

  Command& add(std::string_view part) {
    body_ += '$';
    append_number(body_, part.size());
    body_.append(part).append("\r\n");
    ++parts_;
    return *this;
  }
  Command& add(std::integral auto number) {
    std::array<char, 24> digits = {};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return add(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  }

  void write_to(std::string& out) const {
    write_count(out, parts_);
    out.append(body_);
  }

  /// This command's parts are how many keys there are, the keys and the arguments of a script.
  enum class As { digest, text };
  void write_to(std::string& out, const Script& script, As as) const {
    write_count(out, parts_ + 2);
    Command head;
    if (as == As::digest) {
      head.add("EVALSHA").add(script.digest());
    } else {
      head.add("EVAL").add(script.text());
    }
    out.append(head.body_).append(body_);
  }

 private:
  static void write_count(std::string& out, std::size_t count) {
    out += '*';
    append_number(out, count);
  }
  static void append_number(std::string& out, std::size_t number) {
    std::array<char, 24> digits = {};
    out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
    out.append("\r\n");
  }

  std::string body_;
  std::size_t parts_ = 0;
};

}  // namespace holdfast::redis
