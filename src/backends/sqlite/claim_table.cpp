#include "backends/sqlite/claim_table.hpp"

#include <algorithm>
#include <limits>

#include "backends/sqlite/checksum.hpp"
#include "backends/sqlite/numbers.hpp"

namespace holdfast::sqlite {
namespace {

// In all statements: ?1 name, ?2 permits, ?3 turn (the place in the line), ?4 waiting, unless they say otherwise.

/// What read() reads, in this order.
constexpr const char* columns =
    "waiting, turn, id, client, mode, units, number, lease, expires, opens, since, asked, asked_until,"
    " claims.checksum";
constexpr int column_count = 14;

constexpr const char* at = "AND waiting IN (0, 1) AND turn = ?3";
constexpr const char* first = "ORDER BY waiting, turn LIMIT 1";
constexpr const char* first_waiting = "AND waiting = 1 ORDER BY turn LIMIT 1";
constexpr const char* waiting_before = "AND waiting = 1 AND turn < ?3 ORDER BY turn DESC LIMIT 1";
constexpr const char* waiting_behind = "AND waiting = 1 AND turn > ?3 ORDER BY turn LIMIT 1";
constexpr const char* holders = "AND waiting = 0 ORDER BY turn LIMIT ?3";                      // ?3 at most
constexpr const char* holders_from = "AND waiting = 0 AND turn >= ?3 ORDER BY turn LIMIT ?4";  // ?4 at most
constexpr const char* last_holder = "AND waiting = 0 ORDER BY turn DESC LIMIT 1";
constexpr const char* waiting_for_more = "AND waiting = 1 AND units > ?3 ORDER BY turn";  // ?3 units
constexpr const char* claims_of = "AND client = ?3";                                      // ?3 client

std::string in_line(const char* which) {
  return std::string("SELECT ") + columns + " FROM claims WHERE name = ?1 AND permits = ?2 " + which;
}

std::string opened_by() {  // ?3 now, ?4 at most
  return std::string("SELECT ") + columns +
         " FROM claims INDEXED BY crowd_by_end WHERE name = ?1 AND permits = ?2 AND crowd = 1 AND waiting = 0"
         " AND opens <= ?3 ORDER BY opens LIMIT ?4";
}

constexpr const char* first_to_open =
    "SELECT opens FROM claims INDEXED BY crowd_by_end WHERE name = ?1 AND permits = ?2 AND crowd = 1 AND waiting = 0"
    " ORDER BY opens LIMIT 1";

/// ?3 id. Of those who share a line all but the first are in the index. Exclusive claims are not, so their line is
/// searched; a line of permits, which may be very long, is not (?2 = 0 is decided once).
std::string find_by_id() {
  const std::string select = std::string("SELECT ") + columns + " FROM claims ";
  return select + "INDEXED BY crowd_by_id WHERE id = ?3 AND crowd = 1 AND name = ?1 AND permits = ?2 UNION ALL " +
         select + "WHERE ?2 = 0 AND name = ?1 AND permits = 0 AND crowd = 0 AND id = ?3 ORDER BY expires DESC LIMIT 1";
}

std::string list_where(const std::string& which) {
  return std::string("SELECT ") + columns +
         ", claims.name, permits, size, reason, client_id, host, pid, command, label"
         " FROM claims LEFT JOIN clients ON client_number = client"
         " LEFT JOIN pools ON permits = 1 AND pools.name = claims.name"
         " WHERE " +
         which + " ORDER BY claims.name, permits, waiting, turn";
}

constexpr const char* count_holders = "SELECT count(*) FROM claims WHERE name = ?1 AND permits = ?2 AND waiting = 0";
constexpr const char* count_waiting_before =
    "SELECT count(*) FROM claims WHERE name = ?1 AND permits = ?2 AND waiting = 1 AND turn < ?3";
constexpr const char* insert =
    "INSERT INTO claims"
    " (name, permits, turn, waiting, id, client, mode, units, number, lease, expires, opens, since, reason,"
    "  crowd, checksum)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
constexpr const char* erase = "DELETE FROM claims WHERE name = ?1 AND permits = ?2 AND turn = ?3 AND waiting = ?4";
constexpr const char* arm =
    "UPDATE claims SET lease = ?5, expires = ?6, opens = ?7, checksum = ?8"
    " WHERE name = ?1 AND permits = ?2 AND turn = ?3 AND waiting = ?4";
constexpr const char* grant =
    "UPDATE claims SET waiting = 0, number = ?4, since = ?5, checksum = ?6"
    " WHERE name = ?1 AND permits = ?2 AND turn = ?3 AND waiting = 1";
constexpr const char* make_shared =
    "UPDATE claims SET mode = ?4, units = ?5, checksum = ?6"
    " WHERE name = ?1 AND permits = ?2 AND turn = ?3 AND waiting = 0";
constexpr const char* ask =
    "UPDATE claims SET asked = ?4, asked_until = ?5"
    " WHERE name = ?1 AND permits = ?2 AND turn = ?3 AND waiting = 0";

constexpr const char* pool = "SELECT size, used, holders, checksum FROM pools WHERE name = ?1";
constexpr const char* set_pool =
    "INSERT OR REPLACE INTO pools (name, size, used, holders, checksum) VALUES (?1, ?2, ?3, ?4, ?5)";
constexpr const char* erase_pool = "DELETE FROM pools WHERE name = ?1";
constexpr const char* lines_of = "SELECT DISTINCT name, permits FROM claims WHERE client = ?1";

std::int64_t stored(base::Instant instant) { return instant.time_since_epoch().count(); }
std::int64_t stored(bool value) { return value ? 1 : 0; }
std::int64_t stored(LockKind kind) { return stored(kind == LockKind::semaphore); }
base::Instant as_instant(std::int64_t nanoseconds) { return base::Instant(base::Duration(nanoseconds)); }

// Wider than whatever is written, and narrow enough to be added and subtracted.
constexpr std::int64_t last_lease = std::int64_t{1} << 40;
constexpr std::int64_t last_number = (std::int64_t{1} << Numbers::bits) - 1;
constexpr std::int64_t last_count = std::numeric_limits<std::uint32_t>::max();

std::uint32_t count_in(const Statement::Rows& row, int column, std::int64_t smallest = 0) {
  return static_cast<std::uint32_t>(row.integer(column, smallest, last_count));
}

LockKind kind_in(const Statement::Rows& row, int column) {
  return row.integer(column, 0, 1) != 0 ? LockKind::semaphore : LockKind::lock;
}

base::Instant instant_in(const Statement::Rows& row, int column) {
  return as_instant(row.integer(column, 0, std::numeric_limits<std::int64_t>::max()));
}

/// Of what decides over grants. Who is asked to release, and why, is not part of it.
std::int64_t checksum_of(const LineKey& line, const Claim& claim) {
  return Checksum()
      .add(line.name)
      .add(stored(line.kind))
      .add(stored(claim.waiting))
      .add(claim.place)
      .add(static_cast<std::int64_t>(claim.id.high))
      .add(static_cast<std::int64_t>(claim.id.low))
      .add(claim.client)
      .add(static_cast<std::int64_t>(claim.mode))
      .add(claim.units)
      .add(claim.number)
      .add(claim.lease.count())
      .add(stored(claim.expires))
      .add(stored(claim.opens))
      .add(stored(claim.since))
      .value();
}

std::int64_t checksum_of(std::string_view name, const Pool& counts) {
  return Checksum().add(name).add(counts.size).add(counts.used).add(counts.holders).value();
}

Claim read(const Statement::Rows& row, const LineKey& line) {
  std::optional<Claim::Asked> asked;
  if (!row.null(11)) asked = {std::string(row.text(11)), instant_in(row, 12)};
  Claim claim{.waiting = row.integer(0, 0, 1) != 0,
              .place = row.integer(1, 1, last_number),
              .id = row.claim_id(2),
              .client = row.integer(3, 1, last_number),
              .mode = static_cast<ClaimMode>(row.integer(4, 0, static_cast<int>(ClaimMode::permits))),
              .units = count_in(row, 5, 1),
              .number = row.integer(6, 0, last_number),
              .lease = spi::milliseconds(row.integer(7, 0, last_lease)),
              .expires = instant_in(row, 8),
              .opens = instant_in(row, 9),
              .since = instant_in(row, 10),
              .asked = std::move(asked)};
  if (row.integer(13) != checksum_of(line, claim)) fail_as_damaged("the checksum of a claim is wrong");
  return claim;
}

std::optional<Claim> read_one(const LineKey& line, Statement::Rows rows) {
  if (!rows.next()) return std::nullopt;
  return read(rows, line);
}

std::vector<Claim> read_all(const LineKey& line, Statement::Rows rows) {
  std::vector<Claim> claims;
  while (rows.next()) claims.push_back(read(rows, line));
  return claims;
}

}  // namespace

ClaimTable::ClaimTable(Connection& connection)
    : connection_(connection),
      at_(connection, in_line(sqlite::at)),
      find_(connection, find_by_id()),
      first_(connection, in_line(sqlite::first)),
      first_waiting_(connection, in_line(sqlite::first_waiting)),
      waiting_before_(connection, in_line(sqlite::waiting_before)),
      waiting_behind_(connection, in_line(sqlite::waiting_behind)),
      holders_(connection, in_line(sqlite::holders)),
      count_holders_(connection, sqlite::count_holders),
      count_waiting_before_(connection, sqlite::count_waiting_before),
      insert_(connection, sqlite::insert),
      erase_(connection, sqlite::erase),
      arm_(connection, sqlite::arm),
      grant_(connection, sqlite::grant),
      make_shared_(connection, sqlite::make_shared),
      ask_(connection, sqlite::ask),
      pool_(connection, sqlite::pool),
      set_pool_(connection, sqlite::set_pool),
      erase_pool_(connection, sqlite::erase_pool) {}

std::optional<Claim> ClaimTable::at(const LineKey& line, std::int64_t place) {
  return read_one(line, at_.rows(line.name, stored(line.kind), place));
}

std::optional<Claim> ClaimTable::find(const LineKey& line, const spi::ClaimId& id) {
  auto found = read_one(line, find_.rows(line.name, stored(line.kind), id));
  if (found || !line.permits()) return found;
  found = first(line);
  if (found && found->id != id) found.reset();
  return found;
}

std::optional<Claim> ClaimTable::first(const LineKey& line) {
  return read_one(line, first_.rows(line.name, stored(line.kind)));
}

std::optional<Claim> ClaimTable::first_waiting(const LineKey& line) {
  return read_one(line, first_waiting_.rows(line.name, stored(line.kind)));
}

std::optional<Claim> ClaimTable::waiting_before(const LineKey& line, std::int64_t place) {
  return read_one(line, waiting_before_.rows(line.name, stored(line.kind), place));
}

std::optional<Claim> ClaimTable::waiting_behind(const LineKey& line, std::int64_t place) {
  return read_one(line, waiting_behind_.rows(line.name, stored(line.kind), place));
}

std::vector<Claim> ClaimTable::holders(const LineKey& line, std::int64_t at_most) {
  return read_all(line, holders_.rows(line.name, stored(line.kind), at_most));
}

// Prepared where they are used: only for lines with very many holders, or by an operator.

std::vector<Claim> ClaimTable::holders_from(const LineKey& line, std::int64_t place, std::int64_t at_most) {
  Statement statement(connection_, in_line(sqlite::holders_from));
  return read_all(line, statement.rows(line.name, stored(line.kind), place, at_most));
}

std::optional<Claim> ClaimTable::last_holder(const LineKey& line) {
  Statement statement(connection_, in_line(sqlite::last_holder));
  return read_one(line, statement.rows(line.name, stored(line.kind)));
}

std::vector<Claim> ClaimTable::opened(const LineKey& line, base::Instant now, std::int64_t at_most) {
  Statement statement(connection_, opened_by());
  return read_all(line, statement.rows(line.name, stored(line.kind), stored(now), at_most));
}

base::Instant ClaimTable::first_to_open(const LineKey& line) {
  Statement statement(connection_, sqlite::first_to_open);
  auto rows = statement.rows(line.name, stored(line.kind));
  return rows.next() ? as_instant(rows.integer(0)) : base::Instant::max();
}

std::vector<Claim> ClaimTable::waiting_for_more_than(const LineKey& line, std::uint32_t units) {
  Statement statement(connection_, in_line(waiting_for_more));
  return read_all(line, statement.rows(line.name, stored(line.kind), static_cast<std::int64_t>(units)));
}

std::int64_t ClaimTable::count_holders(const LineKey& line) {
  auto rows = count_holders_.rows(line.name, stored(line.kind));
  return rows.next() ? rows.integer(0) : 0;
}

std::int64_t ClaimTable::count_waiting_before(const LineKey& line, std::int64_t place) {
  auto rows = count_waiting_before_.rows(line.name, stored(line.kind), place);
  return rows.next() ? rows.integer(0) : 0;
}

void ClaimTable::insert(const LineKey& line, const Claim& claim, std::string_view reason) {
  insert_.change_one(line.name, stored(line.kind), claim.place, stored(claim.waiting), claim.id, claim.client,
                     static_cast<std::int64_t>(claim.mode), static_cast<std::int64_t>(claim.units), claim.number,
                     static_cast<std::int64_t>(claim.lease.count()), stored(claim.expires), stored(claim.opens),
                     stored(claim.since), reason, stored(claim.crowd), checksum_of(line, claim));
}

void ClaimTable::erase(const LineKey& line, const Claim& claim) {
  erase_.change_one(line.name, stored(line.kind), claim.place, stored(claim.waiting));
}

void ClaimTable::arm(const LineKey& line, const Claim& claim) {
  arm_.change_one(line.name, stored(line.kind), claim.place, stored(claim.waiting),
                  static_cast<std::int64_t>(claim.lease.count()), stored(claim.expires), stored(claim.opens),
                  checksum_of(line, claim));
}

void ClaimTable::grant(const LineKey& line, const Claim& claim) {
  grant_.change_one(line.name, stored(line.kind), claim.place, claim.number, stored(claim.since),
                    checksum_of(line, claim));
}

void ClaimTable::make_shared(const LineKey& line, const Claim& claim) {
  make_shared_.change_one(line.name, stored(line.kind), claim.place, static_cast<std::int64_t>(claim.mode),
                          static_cast<std::int64_t>(claim.units), checksum_of(line, claim));
}

void ClaimTable::ask(const LineKey& line, const Claim& claim, const Claim::Asked& asked) {
  ask_.change_one(line.name, stored(line.kind), claim.place, asked.reason, stored(asked.until));
}

std::optional<Pool> ClaimTable::pool(std::string_view name) {
  auto rows = pool_.rows(name);
  if (!rows.next()) return std::nullopt;
  const Pool pool{.size = count_in(rows, 0), .used = count_in(rows, 1), .holders = count_in(rows, 2)};
  if (rows.integer(3) != checksum_of(name, pool)) fail_as_damaged("the checksum of a pool is wrong");
  return pool;
}

void ClaimTable::set_pool(std::string_view name, const Pool& pool) {
  set_pool_.change_one(name, static_cast<std::int64_t>(pool.size), static_cast<std::int64_t>(pool.used),
                       static_cast<std::int64_t>(pool.holders), checksum_of(name, pool));
}

void ClaimTable::check_all() {
  list({});
  Statement names(connection_, "SELECT name FROM pools");
  for (auto rows = names.rows(); rows.next();) pool(rows.text(0));
}

void ClaimTable::erase_pool(std::string_view name) { erase_pool_.run(name); }

std::vector<ClaimTable::Listed> ClaimTable::list(std::string_view prefix) {
  return listed(list_where("claims.name >= ?1"), prefix);
}

std::vector<ClaimTable::Listed> ClaimTable::show(std::string_view name) {
  return listed(list_where("claims.name = ?1"), name);
}

/// Until the names do not begin with `first` any more.
std::vector<ClaimTable::Listed> ClaimTable::listed(const std::string& sql, std::string_view first) {
  std::vector<Listed> listed;
  Statement statement(connection_, sql);
  auto rows = statement.rows(first);
  for (int next = column_count; rows.next(); next = column_count) {
    const std::string_view name = rows.text(next++);
    if (!name.starts_with(first)) break;
    Listed& entry = listed.emplace_back();
    entry.name = name;
    entry.kind = kind_in(rows, next++);
    entry.claim = read(rows, {entry.name, entry.kind});
    if (!rows.null(next)) entry.total = count_in(rows, next);
    ++next;
    entry.reason = rows.text(next++);
    entry.client.id = rows.text(next++);
    entry.client.host = rows.text(next++);
    entry.client.pid = rows.integer(next++);
    entry.client.command = rows.text(next++);
    entry.client.label = rows.text(next++);
  }
  return listed;
}

std::vector<ClaimTable::Line> ClaimTable::lines_of(ClientNumber client) {
  std::vector<Line> lines;
  Statement statement(connection_, sqlite::lines_of);
  for (auto rows = statement.rows(client); rows.next();) {
    lines.push_back({std::string(rows.text(0)), kind_in(rows, 1)});
  }
  return lines;
}

std::vector<Claim> ClaimTable::claims_of(const LineKey& line, ClientNumber client) {
  Statement statement(connection_, in_line(sqlite::claims_of));
  return read_all(line, statement.rows(line.name, stored(line.kind), client));
}

}  // namespace holdfast::sqlite
