#include <string>
#include <vector>

#include "backends/redis/protocol/reply.hpp"
#include "fuzz/targets.hpp"

namespace holdfast::fuzz {
namespace {

using redis::Reply;
using redis::ReplyReader;

std::size_t elements_of(const Reply& reply) {
  std::size_t count = 1;
  for (const Reply& element : reply.elements) count += elements_of(element);
  return count;
}

void write(const Reply& reply, std::string& all) {
  all += std::to_string(static_cast<int>(reply.kind)) + ' ' + std::to_string(reply.integer) + ' ' + reply.text + '(';
  for (const Reply& element : reply.elements) write(element, all);
  all += ')';
}

void take_all(ReplyReader& reader, std::string& all) {
  while (const Reply* reply = reader.next()) {
    require(elements_of(*reply) <= ReplyReader::max_elements + 1, "a reply is not too large");
    write(*reply, all);
  }
}

}  // namespace

void redis_reply(std::string_view input) {
  std::string at_once;
  ReplyReader reader;
  reader.feed(input);
  take_all(reader, at_once);

  // However the network cuts it. The first byte says how.
  const std::size_t piece = input.empty() ? 1 : 1 + static_cast<unsigned char>(input[0]) % 7U;
  std::string in_pieces;
  ReplyReader careful;
  for (std::size_t at = 0; at < input.size(); at += piece) {
    careful.feed(input.substr(at, piece));
    take_all(careful, in_pieces);
  }
  require(at_once.starts_with(in_pieces) || in_pieces.starts_with(at_once), "replies do not depend on packets");
  if (!reader.failed() && !careful.failed()) require(at_once == in_pieces, "no reply is lost between packets");
}

}  // namespace holdfast::fuzz
