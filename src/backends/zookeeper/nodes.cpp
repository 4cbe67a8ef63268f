#include "backends/zookeeper/nodes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <map>

#include "base/percent.hpp"

namespace holdfast::zookeeper {
namespace {

constexpr std::size_t guid_bytes = 36;
/// The servers count in 32 bits.
constexpr std::int64_t last_sequence = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view ours = "_c_";
constexpr std::string_view shared_mark = "-shared-";

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

}  // namespace

std::string Nodes::encode(std::string_view name) {
  if (name == ".") return "%2E";
  if (name == "..") return "%2E%2E";
  return base::percent_encoded(name, base::is_plain_in_names);
}

std::optional<std::string> Nodes::decode(std::string_view node) {
  auto name = base::percent_decoded(node, base::HexDigits::upper);
  if (name && name->empty()) return std::nullopt;
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

std::optional<spi::ClaimId> id_of(std::string_view guid) {
  std::string digits(guid);
  std::erase(digits, '-');
  spi::ClaimId id;
  const char* const middle = digits.data() + digits.size() / 2;
  const auto high = std::from_chars(digits.data(), middle, id.high, 16);
  const auto low = std::from_chars(middle, digits.data() + digits.size(), id.low, 16);
  const bool fits = high.ec == std::errc() && low.ec == std::errc() && guid_of(id) == guid;
  return fits ? std::optional(id) : std::nullopt;
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

std::int64_t sequence_of(std::string_view node) {
  std::int64_t sequence = 0;
  if (node.size() < sequence_bytes || !parse(node.substr(node.size() - sequence_bytes), sequence)) return -1;
  return sequence;
}

std::optional<std::string> node_after(std::int64_t sequence, const std::string& new_node) {
  if (sequence < 0 || sequence + 1 >= last_sequence) return std::nullopt;
  return new_node + padded(sequence + 1);
}

std::string_view Entry::guid() const {
  return has_guid ? std::string_view(node).substr(ours.size(), guid_bytes) : std::string_view();
}

std::string Entry::mark() const {
  return std::string(ours) + std::string(guid()) + std::string(shared_mark) + padded(sequence);
}

std::optional<Entry> Entry::from(const std::string& node) {
  Entry entry = {.node = node, .sequence = sequence_of(node)};
  if (entry.sequence < 0) return std::nullopt;
  const std::string_view all = node;
  if (all.starts_with(ours) && all.size() > ours.size() + guid_bytes + sequence_bytes) {
    const std::string_view kind =
        all.substr(ours.size() + guid_bytes, all.size() - ours.size() - guid_bytes - sequence_bytes);
    entry.has_guid = true;
    if (kind == "-read-lock-") {
      entry.mode.kind = ClaimMode::shared;
    } else if (const auto permits = permits_from(kind)) {
      entry.mode = *permits;
    }
  }
  return entry;
}

Entries entries_from(const std::vector<std::string>& children) {
  Entries entries;
  entries.reserve(children.size());
  std::map<std::string, std::int64_t, std::less<>> marks;  // by guid
  for (const std::string& child : children) {
    auto entry = Entry::from(child);
    if (!entry) continue;
    if (entry->is_mark()) {
      marks[std::string(entry->guid())] = entry->sequence;
    } else {
      entries.push_back(*std::move(entry));
    }
  }
  std::sort(entries.begin(), entries.end());
  if (marks.empty()) return entries;
  for (Entry& entry : entries) {
    const auto mark = marks.find(entry.guid());
    if (mark != marks.end() && mark->second == entry.sequence) entry.mode.kind = ClaimMode::shared;
  }
  return entries;
}

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

Line::Line(std::shared_ptr<const Entries> entries, const std::optional<SemaphoreData>& data)
    : entries_(std::move(entries)), data_(data) {
  rule_.reserve(entries_->size() + 1);
  if (entries_->empty()) return;
  total_ = entries_->front().mode.limit;
  // The line has not been empty since it was resized if one of those who came before is still there.
  const bool resized = data && entries_->front().sequence < data->before;
  if (resized) total_ = data->total;
  for (const Entry& entry : *entries_) rule_.push_back({entry.mode, resized && entry.sequence <= data->kept});
}

Line Line::from(const std::vector<std::string>& children, const std::optional<SemaphoreData>& data) {
  return {std::make_shared<const Entries>(entries_from(children)), data};
}

/// Those who came last are looked for most.
const Entry* Line::find(std::string_view guid) const {
  const auto found =
      std::find_if(entries_->rbegin(), entries_->rend(), [&](const Entry& each) { return each.guid() == guid; });
  return found == entries_->rend() ? nullptr : &*found;
}

std::size_t Line::first_ahead_of(std::size_t place) const {
  if (rule_[place].mode.kind != ClaimMode::shared) return 0;
  std::size_t first = 0;
  while (rule_[first].mode.kind == ClaimMode::shared) ++first;
  return first;
}

bool Line::admits(const spi::Mode& mode) const {
  std::vector<kit::LineEntry> line = rule_;
  line.push_back({mode});
  const std::uint32_t then = total_ == 0 ? mode.limit : total_;
  return kit::position_of(line, line.size() - 1, then).kind == kit::LinePosition::Kind::granted;
}

Line Line::without(std::string_view guid) const {
  auto others = std::make_shared<Entries>(*entries_);
  std::erase_if(*others, [&](const Entry& each) { return each.guid() == guid; });
  return {std::move(others), data_};
}

}  // namespace holdfast::zookeeper
