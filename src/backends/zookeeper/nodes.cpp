#include "backends/zookeeper/nodes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <map>

namespace holdfast::zookeeper {
namespace {

constexpr std::string_view digits = "0123456789ABCDEF";
constexpr std::size_t guid_bytes = 36;
constexpr std::size_t sequence_bytes = 10;
constexpr std::string_view ours = "_c_";
constexpr std::string_view shared_mark = "-shared-";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

std::optional<unsigned> value_of(char digit) {
  const std::size_t at = digits.find(digit);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<unsigned>(at);
}

template <class T>
bool parse(std::string_view text, T& number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == text.data() + text.size() && !text.empty();
}

std::string padded(std::int64_t sequence) {
  std::array<char, 24> text = {};
  std::snprintf(text.data(), text.size(), "%010lld", static_cast<long long>(sequence));
  return text.data();
}

/// "-2-of-5-lock-"
std::optional<spi::Mode> permits_from(std::string_view text) {
  constexpr std::string_view end = "-lock-";
  const std::size_t of = text.find("-of-");
  if (!text.starts_with('-') || !text.ends_with(end) || of == std::string_view::npos) return std::nullopt;
  spi::Mode mode = {.kind = ClaimMode::permits};
  const std::size_t limit_at = of + 4;
  if (limit_at + end.size() > text.size() || !parse(text.substr(1, of - 1), mode.permits) ||
      !parse(text.substr(limit_at, text.size() - end.size() - limit_at), mode.limit)) {
    return std::nullopt;
  }
  return mode;
}

/// Empty if it is no claim.
std::optional<Entry> entry_from(const std::string& node) {
  if (node.size() < sequence_bytes) return std::nullopt;
  Entry entry = {.node = node};
  const std::string_view all = node;
  if (!parse(all.substr(all.size() - sequence_bytes), entry.sequence)) return std::nullopt;
  if (all.starts_with(ours) && all.size() > ours.size() + guid_bytes + sequence_bytes) {
    const std::string_view kind =
        all.substr(ours.size() + guid_bytes, all.size() - ours.size() - guid_bytes - sequence_bytes);
    entry.guid = all.substr(ours.size(), guid_bytes);
    if (kind == "-read-lock-") {
      entry.mode.kind = ClaimMode::shared;
    } else if (const auto permits = permits_from(kind)) {
      entry.mode = *permits;
    }
  }
  return entry;
}

}  // namespace

std::string Nodes::encode(std::string_view name) {
  if (name == ".") return "%2E";
  if (name == "..") return "%2E%2E";
  std::string encoded;
  encoded.reserve(name.size());
  for (const char c : name) {
    if (is_plain(c)) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += '%';
      encoded += digits[byte >> 4U];
      encoded += digits[byte & 15U];
    }
  }
  return encoded;
}

std::optional<std::string> Nodes::decode(std::string_view node) {
  std::string name;
  name.reserve(node.size());
  for (std::size_t i = 0; i < node.size(); ++i) {
    if (node[i] != '%') {
      name += node[i];
      continue;
    }
    const auto high = i + 1 < node.size() ? value_of(node[i + 1]) : std::nullopt;
    const auto low = i + 2 < node.size() ? value_of(node[i + 2]) : std::nullopt;
    if (!high || !low) return std::nullopt;
    name += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  if (name.empty()) return std::nullopt;
  return name;
}

// --- the nodes of claims --------------------------------------------------------------------------------------------

std::string guid_of(const spi::ClaimId& id) {
  std::array<char, guid_bytes + 1> text = {};
  std::snprintf(
      text.data(), text.size(), "%08llx-%04llx-%04llx-%04llx-%012llx", static_cast<unsigned long long>(id.high >> 32U),
      static_cast<unsigned long long>(id.high >> 16U & 0xFFFFU), static_cast<unsigned long long>(id.high & 0xFFFFU),
      static_cast<unsigned long long>(id.low >> 48U), static_cast<unsigned long long>(id.low & 0xFFFFFFFFFFFFU));
  return text.data();
}

std::string new_node_of(const spi::ClaimId& id, const spi::Mode& mode) {
  std::string node = std::string(ours) + guid_of(id);
  switch (mode.kind) {
    case ClaimMode::exclusive: break;
    case ClaimMode::shared: node += "-read"; break;
    case ClaimMode::permits: node += "-" + std::to_string(mode.permits) + "-of-" + std::to_string(mode.limit); break;
  }
  return node + "-lock-";
}

std::string mark_of_shared(const spi::ClaimId& id, std::int64_t sequence) {
  return std::string(ours) + guid_of(id) + std::string(shared_mark) + padded(sequence);
}

std::string Entry::mark() const { return std::string(ours) + guid + std::string(shared_mark) + padded(sequence); }

// --- semaphores -----------------------------------------------------------------------------------------------------

std::string SemaphoreData::text() const {
  return std::to_string(total) + " " + std::to_string(before) + " " + std::to_string(kept);
}

std::optional<SemaphoreData> SemaphoreData::from(std::string_view text) {
  SemaphoreData data;
  const std::size_t first = text.find(' ');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = text.find(' ', first + 1);
  if (second == std::string_view::npos || !parse(text.substr(0, first), data.total) ||
      !parse(text.substr(first + 1, second - first - 1), data.before) || !parse(text.substr(second + 1), data.kept)) {
    return std::nullopt;
  }
  return data;
}

// --- lines ----------------------------------------------------------------------------------------------------------

Line Line::from(const std::vector<std::string>& children, const std::optional<SemaphoreData>& data) {
  Line line;
  std::map<std::string, std::int64_t, std::less<>> marks;  // by guid
  for (const std::string& child : children) {
    auto entry = entry_from(child);
    if (!entry) continue;
    if (!entry->guid.empty() && child == entry->mark()) {
      marks[entry->guid] = entry->sequence;
    } else {
      line.entries.push_back(*std::move(entry));
    }
  }
  std::sort(line.entries.begin(), line.entries.end(), [](const Entry& a, const Entry& b) {
    return a.sequence != b.sequence ? a.sequence < b.sequence : a.node < b.node;
  });
  for (Entry& entry : line.entries) {
    const auto mark = marks.find(entry.guid);
    if (mark != marks.end() && mark->second == entry.sequence) entry.mode.kind = ClaimMode::shared;
  }
  if (line.entries.empty()) return line;
  line.total = line.entries.front().mode.limit;
  // The line has not been empty since it was resized if one of those who came before is still there.
  if (data && line.entries.front().sequence < data->before) {
    line.total = data->total;
    for (Entry& entry : line.entries) entry.keeps = entry.sequence <= data->kept;
  }
  return line;
}

const Entry* Line::find(std::string_view guid) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& each) { return each.guid == guid; });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<spi::LineEntry> Line::rule() const {
  std::vector<spi::LineEntry> line;
  line.reserve(entries.size() + 1);
  for (const Entry& entry : entries) line.push_back({entry.mode, entry.keeps});
  return line;
}

spi::Turn Line::turn_of(std::size_t place) const { return spi::turn_of(rule(), place, total); }

bool Line::admits(const spi::Mode& mode) const {
  std::vector<spi::LineEntry> line = rule();
  line.push_back({mode});
  const std::uint32_t then = total == 0 ? mode.limit : total;
  return spi::turn_of(line, line.size() - 1, then).kind == spi::Turn::Kind::granted;
}

void Line::erase(std::string_view guid) {
  std::erase_if(entries, [&](const Entry& each) { return each.guid == guid; });
}

}  // namespace holdfast::zookeeper
