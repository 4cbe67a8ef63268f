#include "backends/redis/reply.hpp"

#include <hiredis/read.h>

#include <charconv>

namespace holdfast::redis {

/// What hiredis calls while it reads: the reply is built in place, inside the reader's root.
struct ReplyReader::Construction {
  static Reply& place_of(const redisReadTask* task) {
    if (task->parent == nullptr) return static_cast<ReplyReader*>(task->privdata)->root_;
    return static_cast<Reply*>(task->parent->obj)->elements[static_cast<std::size_t>(task->idx)];
  }

  /// Empty: the root still has the reply before.
  static Reply& begin(const redisReadTask* task, Reply::Kind kind) {
    Reply& reply = place_of(task);
    reply.kind = kind;
    reply.integer = 0;
    reply.text.clear();
    reply.elements.clear();
    return reply;
  }

  static void* text(const redisReadTask* task, char* bytes, std::size_t length) {
    Reply& reply = begin(task, task->type == REDIS_REPLY_ERROR    ? Reply::Kind::error
                               : task->type == REDIS_REPLY_STATUS ? Reply::Kind::status
                                                                  : Reply::Kind::text);
    reply.text.assign(bytes, length);
    return &reply;
  }

  /// Null makes the reader fail.
  static void* array(const redisReadTask* task, int count) {
    auto& reader = *static_cast<ReplyReader*>(task->privdata);
    if (count < 0 || static_cast<std::size_t>(count) > max_elements - reader.elements_) return nullptr;
    reader.elements_ += static_cast<std::size_t>(count);
    Reply& reply = begin(task, Reply::Kind::array);
    reply.elements.resize(static_cast<std::size_t>(count));
    return &reply;
  }

  static void* integer(const redisReadTask* task, long long value) {
    Reply& reply = begin(task, Reply::Kind::integer);
    reply.integer = value;
    return &reply;
  }

  static void* nothing(const redisReadTask* task) { return &begin(task, Reply::Kind::nothing); }

  static void keep(void*) {}

  static redisReplyObjectFunctions* functions() {
    static redisReplyObjectFunctions functions = {&text, &array, &integer, &nothing, &keep};
    return &functions;
  }
};

ReplyReader::ReplyReader() : reader_(redisReaderCreateWithFunctions(Construction::functions()), &redisReaderFree) {
  if (!reader_) throw std::bad_alloc();
  reader_->privdata = this;
}

ReplyReader::~ReplyReader() = default;

void ReplyReader::feed(std::string_view bytes) {
  if (!failed_ && redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) failed_ = true;
}

Reply* ReplyReader::next() {
  if (failed_) return nullptr;
  void* reply = nullptr;
  if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
    failed_ = true;
    return nullptr;
  }
  if (reply == nullptr) {
    failed_ = announces_too_much();
    return nullptr;
  }
  elements_ = 0;
  return static_cast<Reply*>(reply);
}

/// hiredis waits patiently for as much text as the header says. It has read the header's first letter by then. Of a
/// line that has no end yet it reads everything anew whenever more of it comes, so a long one would take minutes.
bool ReplyReader::announces_too_much() const {
  const std::string_view rest(reader_->buf + reader_->pos, reader_->len - reader_->pos);
  if (rest.size() > max_buffered_bytes) return true;
  const bool is_text = reader_->ridx >= 0 && reader_->rstack[reader_->ridx].type == REDIS_REPLY_STRING;
  const bool has_header = is_text && rest.substr(0, max_line_bytes).find("\r\n") != std::string_view::npos;
  if (rest.size() > max_line_bytes && !has_header) return true;
  if (!is_text) return false;
  unsigned long long length = 0;
  const std::errc error = std::from_chars(rest.data(), rest.data() + rest.size(), length).ec;
  return error == std::errc::result_out_of_range || (error == std::errc() && length > max_text_bytes);
}

}  // namespace holdfast::redis
