#include "backends/zookeeper/record.hpp"

#include <algorithm>
#include <chrono>

#include "backends/zookeeper/nodes.hpp"
#include "base/percent.hpp"
#include "kit/number_fields.hpp"

namespace holdfast::zookeeper {
namespace {

constexpr std::string_view first_line = "holdfast 1\n";

/// Only what would break a line is encoded; the rest stays as people know it.
bool is_plain(char c) { return c != '\n' && c != '%'; }

void add(std::string& text, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  text += key;
  text += '=';
  text += base::percent_encoded(value, is_plain);
  text += '\n';
}

/// What is not well encoded was written by somebody else, and is shown as it stands.
std::string decoded(std::string_view value) {
  return base::percent_decoded(value, base::HexDigits::upper).value_or(std::string(value));
}

void take(Record& record, std::string_view key, std::string_view value) {
  if (key == "client") record.client.id = decoded(value);
  if (key == "host") record.client.host = decoded(value);
  if (key == "pid") record.client.pid = kit::number_in(value);
  if (key == "command") record.client.command = decoded(value);
  if (key == "label") record.client.label = decoded(value);
  if (key == "reason") record.reason = decoded(value);
  if (key == "lease") record.lease = kit::duration_in<std::chrono::milliseconds>(value);
  if (key == "asked-within") record.asked.emplace().within = kit::duration_in<std::chrono::milliseconds>(value);
  if (key == "asked-reason" && record.asked) record.asked->reason = decoded(value);
}

}  // namespace

std::string Record::text() const {
  std::string text(first_line);
  add(text, "client", client.id);
  add(text, "host", client.host);
  add(text, "pid", std::to_string(client.pid));
  add(text, "command", client.command);
  add(text, "label", client.label);
  add(text, "reason", reason);
  add(text, "lease", std::to_string(lease.count()));
  if (asked) {
    add(text, "asked-within", std::to_string(asked->within.count()));
    add(text, "asked-reason", asked->reason);
  }
  return text;
}

bool Record::is_ours(std::string_view text) { return text.starts_with(first_line); }

Record Record::from(std::string_view text) {
  Record record;
  if (text == revoke_message) {
    record.asked.emplace();
    return record;
  }
  if (!is_ours(text)) {
    constexpr std::size_t longest = 255;
    record.client.host = std::string(text.substr(0, longest));
    return record;
  }
  text.remove_prefix(first_line.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const std::size_t equals = line.find('='); equals != std::string_view::npos) {
      take(record, line.substr(0, equals), line.substr(equals + 1));
    }
  }
  return record;
}

}  // namespace holdfast::zookeeper
