#include "ids/stepped_record.hpp"

#include <array>
#include <charconv>
#include <sstream>

#include "ids/counter.hpp"

namespace holdfast::ids {
namespace {

constexpr std::array<std::string_view, 3> states = {"proposed", "open", "retired"};
constexpr std::string_view closed = "closed ";
constexpr std::uint32_t most_stores = 1'000;

}  // namespace

std::int64_t SteppedRecord::last_number(std::uint64_t last) const noexcept {
  const std::uint64_t first = id_of(1);
  return last < first ? 0 : static_cast<std::int64_t>((last - first) / stores + 1);
}

std::string to_text(const SteppedRecord& record) {
  std::ostringstream text;
  text << "epoch " << record.epoch << " stores " << record.stores << " index " << record.index << " base "
       << record.base << " set " << record.set << " " << states.at(static_cast<std::size_t>(record.state));
  return text.str();
}

std::optional<SteppedRecord> stepped_record_in(std::string_view text) {
  std::istringstream in{std::string(text)};
  SteppedRecord record;
  std::string state;
  std::array<std::string, 5> words;
  in >> words[0] >> record.epoch >> words[1] >> record.stores >> words[2] >> record.index >> words[3] >> record.base >>
      words[4] >> record.set >> state;
  if (!in || words != std::array<std::string, 5>{"epoch", "stores", "index", "base", "set"}) return std::nullopt;
  if (record.epoch == 0 || record.stores == 0 || record.stores > most_stores || record.index >= record.stores) {
    return std::nullopt;
  }
  for (std::size_t each = 0; each < states.size(); ++each) {
    if (state != states.at(each)) continue;
    record.state = static_cast<SteppedRecord::State>(each);
    return record;
  }
  return std::nullopt;
}

LockName record_register(const LockName& name) { return {"id-stepped/" + name.text()}; }

LockName row_register(const LockName& name, std::uint64_t epoch) {
  return {"id-row/" + std::to_string(epoch) + "/" + name.text()};
}

LockName witness_register(const LockName& name, std::uint64_t epoch, std::uint32_t index) {
  return {"id-witness/" + std::to_string(epoch) + "/" + std::to_string(index) + "/" + name.text()};
}

std::string closed_row(std::int64_t number) { return std::string(closed) + std::to_string(number); }

std::optional<std::int64_t> number_of_row(std::string_view text) {
  if (text.starts_with(closed)) text.remove_prefix(closed.size());
  const auto number = number_in(text);
  if (!number || *number < 0) return std::nullopt;
  return number;
}

}  // namespace holdfast::ids
