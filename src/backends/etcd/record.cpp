#include "backends/etcd/record.hpp"

#include <vector>

#include "backends/etcd/keys.hpp"
#include "kit/number_fields.hpp"

// A record has a mark in its first line, and then each field in a line of its own, in the order in which text() writes
// them. Texts are encoded as in keys. The last two fields exist only if the holder was asked to release.

namespace holdfast::etcd {
namespace {

using kit::duration_in;
using kit::number_in;
using std::chrono::microseconds;
using std::chrono::system_clock;

constexpr std::string_view mark = "holdfast 1";
constexpr std::size_t fields = 13;
constexpr std::size_t fields_if_asked = 15;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (;;) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::uint32_t small_number_in(std::string_view text) { return static_cast<std::uint32_t>(number_in(text)); }

std::string text_in(std::string_view encoded) { return decode(encoded).value_or(std::string()); }

std::string_view word_for(ClaimMode mode) {
  switch (mode) {
    case ClaimMode::exclusive: return "exclusive";
    case ClaimMode::shared: return "shared";
    case ClaimMode::permits: return "permits";
  }
  return "exclusive";
}

ClaimMode mode_in(std::string_view word) {
  if (word == "shared") return ClaimMode::shared;
  return word == "permits" ? ClaimMode::permits : ClaimMode::exclusive;
}

}  // namespace

Record Record::of(const spi::ClaimRequest& request, spi::milliseconds lease) {
  Record record;
  record.id = hexadecimal(request.id);
  record.mode = request.mode;
  record.lease = lease;
  record.since = system_clock::now();
  if (request.client) record.client = *request.client;
  record.reason = request.reason;
  return record;
}

std::string Record::text() const {
  std::string text(mark);
  const auto write = [&](std::string_view field) {
    text += '\n';
    text += field;
  };
  write(word_for(mode.kind));
  write(std::to_string(mode.permits));
  write(std::to_string(mode.limit));
  write(keeps ? "keeps" : "-");
  write(std::to_string(lease.count()));
  write(std::to_string(std::chrono::duration_cast<microseconds>(since.time_since_epoch()).count()));
  write(encode(client.id));
  write(encode(client.host));
  write(std::to_string(client.pid));
  write(encode(client.command) + " " + encode(client.label));
  write(encode(reason));
  write(id);
  if (asked_to_release) {
    write(encode(asked_to_release->reason));
    write(std::to_string(asked_to_release->within.count()));
  }
  return text;
}

Record Record::parse(std::string_view text) {
  Record record;
  const auto lines = lines_of(text);
  if (lines.size() < fields || lines[0] != mark) return record;
  record.mode = {mode_in(lines[1]), small_number_in(lines[2]), small_number_in(lines[3])};
  record.keeps = lines[4] == "keeps";
  record.lease = duration_in<spi::milliseconds>(lines[5]);
  record.since = system_clock::time_point(duration_in<microseconds>(lines[6]));
  record.client.id = text_in(lines[7]);
  record.client.host = text_in(lines[8]);
  record.client.pid = number_in(lines[9]);
  const std::size_t space = lines[10].find(' ');
  record.client.command = text_in(lines[10].substr(0, space));
  if (space != std::string_view::npos) record.client.label = text_in(lines[10].substr(space + 1));
  record.reason = text_in(lines[11]);
  record.id = lines[12];
  if (lines.size() >= fields_if_asked) {
    record.asked_to_release = {text_in(lines[13]), duration_in<spi::milliseconds>(lines[14])};
  }
  return record;
}

}  // namespace holdfast::etcd
