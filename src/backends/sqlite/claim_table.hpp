#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/sqlite/lifelines.hpp"
#include "backends/sqlite/sql.hpp"
#include "holdfast/status.hpp"
#include "spi/claims.hpp"

namespace holdfast::sqlite {

/// All claims on one name, of one of the two kinds that do not meet: locks, or permits.
struct LineKey {
  std::string_view name;
  bool permits = false;
};

/// One row.
struct Claim {
  bool waiting = false;
  std::int64_t turn = 0;  ///< never changes: with the line it is where the claim is found
  spi::ClaimId id = {};
  ClientNumber client = 0;
  ClaimMode mode = ClaimMode::exclusive;
  std::uint32_t units = 1;
  std::int64_t number = 0;  ///< of the grant
  spi::milliseconds lease = {};
  spi::Instant expires = {};
  spi::Instant since = {};
  std::optional<std::string> asked = {};
};

/// A pool of permits.
struct Pool {
  std::uint32_t size = 0;
  std::uint32_t used = 0;
};

/// The tables of claims: only what SQL there is. REQUIRES: inside a transaction. All throw SqlFailure.
class ClaimTable {
 public:
  explicit ClaimTable(Connection& connection);

  std::optional<Claim> at(const LineKey& line, std::int64_t turn);
  /// Goes through both lines of the name. Second: whether it stands among the permits.
  std::optional<std::pair<Claim, bool>> find(std::string_view name, const spi::ClaimId& id);
  /// The first holder; if there is none, the first who waits.
  std::optional<Claim> first(const LineKey& line);
  std::optional<Claim> first_waiting(const LineKey& line);
  /// The claims that wait just before and just behind a turn.
  std::optional<Claim> waiting_before(const LineKey& line, std::int64_t turn);
  std::optional<Claim> waiting_behind(const LineKey& line, std::int64_t turn);
  std::vector<Claim> holders(const LineKey& line, std::int64_t at_most);
  /// How many stand before a claim that waits.
  std::int64_t count_before(const LineKey& line, std::int64_t turn);

  void insert(const LineKey& line, const Claim& claim, std::string_view reason);
  void erase(const LineKey& line, const Claim& claim);
  void arm(const LineKey& line, const Claim& claim);
  /// From waiting to holding, with its number and since when.
  void grant(const LineKey& line, const Claim& claim);
  void make_shared(const LineKey& line, const Claim& claim);
  void ask(const LineKey& line, const Claim& claim, std::string_view reason);

  std::optional<Pool> pool(std::string_view name);
  void set_pool(std::string_view name, const Pool& pool);
  void erase_pool(std::string_view name);

  struct Listed {
    std::string name;
    bool permits = false;
    Claim claim;
    std::string reason;
    ClientIdentity client;
  };
  /// All claims on names from `prefix` on, by name and in the order of their lines.
  std::vector<Listed> list(std::string_view prefix);

  struct Line {
    std::string name;
    bool permits = false;
  };
  /// The lines in which a client stands.
  std::vector<Line> lines_of(ClientNumber client);
  std::vector<Claim> claims_of(const LineKey& line, ClientNumber client);

 private:
  Connection& connection_;
  Statement at_;
  Statement find_;
  Statement first_;
  Statement first_waiting_;
  Statement waiting_before_;
  Statement waiting_behind_;
  Statement holders_;
  Statement count_before_;
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
