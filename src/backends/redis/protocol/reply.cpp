#include "backends/redis/protocol/reply.hpp"

#include <charconv>
#include <system_error>
#include <utility>

namespace holdfast::redis {
namespace {

constexpr std::string_view end_of_line = "\r\n";

std::optional<long long> number_in(std::string_view text) {
  long long number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Empty: the place may still have what the reply before had there.
void begin(Reply& place, Reply::Kind kind) {
  place.kind = kind;
  place.integer = 0;
  place.text.clear();
  place.elements.clear();
}

}  // namespace

void ReplyReader::feed(std::string_view bytes) {
  if (failed_) return;
  buffer_.erase(0, std::exchange(read_, 0));
  if (bytes.size() > max_buffered_bytes - buffer_.size()) {
    failed_ = true;
  } else {
    buffer_.append(bytes);
  }
}

Reply* ReplyReader::next() {
  while (!failed_) {
    switch (read(open_.empty() ? root_ : open_.back().array->elements[open_.back().next])) {
      case Step::opened: continue;
      case Step::incomplete: return nullptr;
      case Step::broken: failed_ = true; return nullptr;
      case Step::complete: break;
    }
    while (!open_.empty() && ++open_.back().next == open_.back().array->elements.size()) open_.pop_back();
    if (!open_.empty()) continue;
    elements_ = 0;
    bytes_ = 0;
    return &root_;
  }
  return nullptr;
}

ReplyReader::Step ReplyReader::read(Reply& place) {
  if (text_size_) return read_text(place);
  const std::string_view rest = unread();
  if (rest.empty()) return Step::incomplete;
  const char type = rest.front();
  if (std::string_view("+-:$*").find(type) == std::string_view::npos) return Step::broken;
  const std::size_t end = rest.find(end_of_line, searched_);
  if (end == std::string_view::npos) {
    searched_ = rest.size() - 1;  // the last byte may be half of the end
    return searched_ > max_line_bytes ? Step::broken : Step::incomplete;
  }
  searched_ = 0;
  if (end > max_line_bytes || takes_too_much(end)) return Step::broken;
  read_ += end + end_of_line.size();
  return read_line(place, type, rest.substr(1, end - 1));
}

ReplyReader::Step ReplyReader::read_line(Reply& place, char type, std::string_view line) {
  if (type == '+' || type == '-') {
    begin(place, type == '+' ? Reply::Kind::status : Reply::Kind::error);
    place.text = line;
    return Step::complete;
  }
  const std::optional<long long> number = number_in(line);
  if (!number) return Step::broken;
  if (type == ':') {
    begin(place, Reply::Kind::integer);
    place.integer = *number;
    return Step::complete;
  }
  if (*number == -1) {
    begin(place, Reply::Kind::nothing);
    return Step::complete;
  }
  if (*number < 0) return Step::broken;
  if (type == '*') return open(place, *number);
  const auto size = static_cast<unsigned long long>(*number);
  if (size > max_text_bytes || takes_too_much(size)) return Step::broken;
  text_size_ = size;
  return read_text(place);
}

ReplyReader::Step ReplyReader::read_text(Reply& place) {
  const std::string_view rest = unread();
  const std::size_t size = *text_size_;
  if (rest.size() < size + end_of_line.size()) return Step::incomplete;
  if (rest.substr(size, end_of_line.size()) != end_of_line) return Step::broken;
  begin(place, Reply::Kind::text);
  place.text = rest.substr(0, size);
  read_ += size + end_of_line.size();
  text_size_.reset();
  return Step::complete;
}

ReplyReader::Step ReplyReader::open(Reply& place, long long count) {
  if (static_cast<unsigned long long>(count) > max_elements - elements_) return Step::broken;
  if (open_.size() == max_depth) return Step::broken;
  elements_ += static_cast<std::size_t>(count);
  begin(place, Reply::Kind::array);
  if (count == 0) return Step::complete;
  place.elements.resize(static_cast<std::size_t>(count));
  open_.push_back({.array = &place});
  return Step::opened;
}

bool ReplyReader::takes_too_much(std::size_t bytes) {
  bytes_ += bytes;
  return bytes_ > max_reply_bytes;
}

}  // namespace holdfast::redis
