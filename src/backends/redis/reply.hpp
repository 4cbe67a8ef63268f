#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct redisReader;  // NOLINT(readability-identifier-naming): of hiredis

namespace holdfast::redis {

/// What the server said.
struct Reply {
  enum class Kind { nothing, integer, text, status, error, array };

  Kind kind = Kind::nothing;
  long long integer = 0;
  std::string text = {};  ///< also of a status and an error
  std::vector<Reply> elements = {};

  bool is(Kind wanted) const { return kind == wanted; }
};

/// Cuts the bytes of a server into replies. It believes no length before it has looked at it: neither an announced
/// array nor an announced text makes it allocate more than the limits say.
class ReplyReader {
 public:
  static constexpr std::size_t max_elements = std::size_t{1} << 18U;  ///< of one reply, in all its arrays together
  static constexpr std::size_t max_text_bytes = std::size_t{16} << 20U;
  static constexpr std::size_t max_line_bytes = std::size_t{64} << 10U;  ///< a status, an error, a number, a length
  static constexpr std::size_t max_buffered_bytes = std::size_t{64} << 20U;

  ReplyReader();
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  void feed(std::string_view bytes);
  /// The next whole reply, good until the next call; null if there is none yet, or ever again.
  Reply* next();
  /// What came is not a reply, or too large for one.
  bool failed() const { return failed_; }

 private:
  struct Construction;
  bool announces_too_much() const;

  const std::unique_ptr<redisReader, void (*)(redisReader*)> reader_;
  Reply root_;
  std::size_t elements_ = 0;
  bool failed_ = false;
};

}  // namespace holdfast::redis
