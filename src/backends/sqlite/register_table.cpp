#include "backends/sqlite/register_table.hpp"

#include "backends/sqlite/checksum.hpp"
#include "kit/rules.hpp"

namespace holdfast::sqlite {

using spi::Result;
using spi::Versioned;

namespace {

std::int64_t checksum_of(std::string_view name, const Versioned& value) {
  return Checksum().add(name).add(static_cast<std::int64_t>(value.version)).add(value.value).value();
}

}  // namespace

Versioned RegisterTable::read(std::string_view name) {
  Statement statement(connection_, "SELECT value, version, checksum FROM registers WHERE name = ?1");
  auto rows = statement.rows(name);
  if (!rows.next()) return {};
  Versioned value{std::string(rows.text(0)), static_cast<std::uint64_t>(rows.integer(1))};
  if (rows.integer(2) != checksum_of(name, value)) fail_as_damaged("the checksum of a register is wrong");
  return value;
}

Result<spi::Registers::WriteAnswer> RegisterTable::write_if(std::string_view name, std::uint64_t expected,
                                                            const std::string& value, std::vector<Notice>& notices) {
  if (auto failure = kit::why_too_large(value.size(), max_value_bytes)) return *std::move(failure);
  Versioned now = read(name);
  if (now.version != expected) return spi::Registers::WriteAnswer{.written = false, .now = std::move(now)};
  now = {value, expected + 1};
  write(name, now, notices);
  return spi::Registers::WriteAnswer{.written = true, .now = std::move(now)};
}

Result<std::int64_t> RegisterTable::add(std::string_view name, std::int64_t amount, std::vector<Notice>& notices) {
  const Versioned now = read(name);
  auto sum = kit::sum_of(now, amount);
  if (sum.ok()) write(name, {std::to_string(sum.value()), now.version + 1}, notices);
  return sum;
}

bool RegisterTable::watch(ClientNumber client, std::string_view name, std::uint64_t seen) {
  if (read(name).version != seen) return true;
  Statement(connection_, "INSERT OR IGNORE INTO watchers (name, client) VALUES (?1, ?2)").run(name, client);
  return false;
}

void RegisterTable::write(std::string_view name, const Versioned& value, std::vector<Notice>& notices) {
  Statement(connection_, "INSERT OR REPLACE INTO registers (name, version, value, checksum) VALUES (?1, ?2, ?3, ?4)")
      .change_one(name, static_cast<std::int64_t>(value.version), value.value, checksum_of(name, value));
  {
    Statement watchers(connection_, "SELECT client FROM watchers WHERE name = ?1");
    for (auto rows = watchers.rows(name); rows.next();) {
      notices.push_back({rows.integer(0), {.kind = Message::Kind::changed, .name = std::string(name)}});
    }
  }
  Statement(connection_, "DELETE FROM watchers WHERE name = ?1").run(name);
}

}  // namespace holdfast::sqlite
