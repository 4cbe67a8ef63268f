#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// One reply of the server.
struct Reply {
  enum class Kind { nothing, integer, text, status, error, array };

  Kind kind = Kind::nothing;
  long long integer = 0;
  std::string text = {};  ///< also of a status and an error
  std::vector<Reply> elements = {};

  bool is(Kind wanted) const { return kind == wanted; }
};

/// Parses the bytes of a server into replies (RESP 2). It does not trust the lengths that it reads: whatever they say,
/// it allocates no more than the limits below, and it looks at no byte of a line twice.
class ReplyReader {
 public:
  static constexpr std::size_t max_elements = std::size_t{1} << 18U;  ///< of one reply, in all its arrays together
  static constexpr std::size_t max_depth = 8;                         ///< of arrays in arrays
  static constexpr std::size_t max_text_bytes = std::size_t{16} << 20U;
  static constexpr std::size_t max_line_bytes = std::size_t{64} << 10U;   ///< a status, an error, a number, a length
  static constexpr std::size_t max_reply_bytes = std::size_t{64} << 20U;  ///< all lines and texts of one reply
  static constexpr std::size_t max_buffered_bytes = std::size_t{64} << 20U;

  ReplyReader() = default;
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  void feed(std::string_view bytes);
  /// The next whole reply, good until the next call; null if there is none yet, or ever again.
  Reply* next();
  /// True after bytes that are no reply, or belong to one that is too large. Then next() returns no more replies.
  bool failed() const { return failed_; }

 private:
  enum class Step { complete, opened, incomplete, broken };
  /// An array whose elements are being read.
  struct Open {
    Reply* array = nullptr;
    std::size_t next = 0;
  };

  std::string_view unread() const { return std::string_view(buffer_).substr(read_); }
  Step read(Reply& place);
  Step read_line(Reply& place, char type, std::string_view line);
  Step read_text(Reply& place);
  Step open(Reply& place, long long count);
  bool takes_too_much(std::size_t bytes);

  std::string buffer_;
  std::size_t read_ = 0;                  ///< so much of the buffer
  std::size_t searched_ = 0;              ///< so much of the unread rest has no end of a line
  std::optional<std::size_t> text_size_;  ///< of the text that comes next: its length was read
  Reply root_;
  std::vector<Open> open_;  ///< from the outside in; they are inside the root
  std::size_t elements_ = 0;
  std::size_t bytes_ = 0;
  bool failed_ = false;
};

}  // namespace holdfast::redis
