#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sqlite/lifelines.hpp"
#include "backends/sqlite/sql.hpp"
#include "holdfast/status.hpp"
#include "spi/claims.hpp"

namespace holdfast::sqlite {

/// All claims on the lock of a name, or all on its semaphore.
struct LineKey {
  std::string_view name;
  LockKind kind = LockKind::lock;
  bool permits() const { return kind == LockKind::semaphore; }
};

/// One row.
struct Claim {
  bool waiting = false;
  std::int64_t place = 0;  ///< in the order of the line; never changes: with the line it is where the claim is found
  spi::ClaimId id = {};
  ClientNumber client = 0;
  bool crowd = false;  ///< found others in line, and may share it with them (only for insert())
  ClaimMode mode = ClaimMode::exclusive;
  std::uint32_t units = 1;
  std::int64_t number = 0;  ///< of the grant
  spi::milliseconds lease = {};
  base::Instant expires = {};  ///< its lease ends, or it was noticed that its client has died
  base::Instant opens = {};    ///< granted: until then it keeps others out even if it has expired
  base::Instant since = {};
  struct Asked {
    std::string reason = {};
    base::Instant until = {};
  };
  std::optional<Asked> asked = {};  ///< to release
};

/// A pool of permits.
struct Pool {
  std::uint32_t size = 0;
  std::uint32_t used = 0;  ///< more than the size, after it was lowered
  std::uint32_t holders = 0;
  bool fits(std::uint32_t units) const { return used <= size && units <= size - used; }
};

/// The tables of claims: only what SQL there is. Each row has a checksum, and one that is read is checked. REQUIRES:
/// inside a transaction. All throw SqlFailure.
class ClaimTable {
 public:
  explicit ClaimTable(Connection& connection);

  std::optional<Claim> at(const LineKey& line, std::int64_t place);
  /// The one that lasts longest, if there are several lives of one id. Goes through the whole line of a lock.
  std::optional<Claim> find(const LineKey& line, const spi::ClaimId& id);
  /// The first holder; if there is none, the first who waits.
  std::optional<Claim> first(const LineKey& line);
  std::optional<Claim> first_waiting(const LineKey& line);
  /// The claims that wait just before and just behind a place.
  std::optional<Claim> waiting_before(const LineKey& line, std::int64_t place);
  std::optional<Claim> waiting_behind(const LineKey& line, std::int64_t place);
  /// Those with the first places.
  std::vector<Claim> holders(const LineKey& line, std::int64_t at_most);
  std::vector<Claim> holders_from(const LineKey& line, std::int64_t place, std::int64_t at_most);
  std::optional<Claim> last_holder(const LineKey& line);
  /// Of the holders that share the line, those that keep nobody out any more by `now`; and when the first of them will.
  std::vector<Claim> opened(const LineKey& line, base::Instant now, std::int64_t at_most);
  base::Instant first_to_open(const LineKey& line);
  /// Those who wait for more than `units`.
  std::vector<Claim> waiting_for_more_than(const LineKey& line, std::uint32_t units);
  /// How many stand before a claim that waits.
  std::int64_t count_holders(const LineKey& line);
  std::int64_t count_waiting_before(const LineKey& line, std::int64_t place);

  void insert(const LineKey& line, const Claim& claim, std::string_view reason);
  void erase(const LineKey& line, const Claim& claim);
  /// Sets its lease and its ends.
  void arm(const LineKey& line, const Claim& claim);
  /// From waiting to holding, with its number and since when.
  void grant(const LineKey& line, const Claim& claim);
  void make_shared(const LineKey& line, const Claim& claim);
  void ask(const LineKey& line, const Claim& claim, const Claim::Asked& asked);

  std::optional<Pool> pool(std::string_view name);
  void set_pool(std::string_view name, const Pool& pool);
  void erase_pool(std::string_view name);

  /// Reads everything, and so finds rows that are damaged where nobody would look for them.
  void check_all();

  struct Listed {
    std::string name;
    LockKind kind = LockKind::lock;
    std::uint32_t total = 0;  ///< of the permits
    Claim claim;
    std::string reason;
    ClientIdentity client;
  };
  /// All claims on names from `prefix` on, by name and in the order of their lines.
  std::vector<Listed> list(std::string_view prefix);
  /// Those of one name.
  std::vector<Listed> show(std::string_view name);

  struct Line {
    std::string name;
    LockKind kind = LockKind::lock;
  };
  /// The lines in which a client stands.
  std::vector<Line> lines_of(ClientNumber client);
  std::vector<Claim> claims_of(const LineKey& line, ClientNumber client);

 private:
  std::vector<Listed> listed(const std::string& sql, std::string_view first);

  Connection& connection_;
  Statement at_;
  Statement find_;
  Statement first_;
  Statement first_waiting_;
  Statement waiting_before_;
  Statement waiting_behind_;
  Statement holders_;
  Statement count_holders_;
  Statement count_waiting_before_;
  Statement insert_;
  Statement erase_;
  Statement arm_;
  Statement grant_;
  Statement make_shared_;
  Statement ask_;
  Statement pool_;
  Statement set_pool_;
  Statement erase_pool_;
};

}  // namespace holdfast::sqlite
