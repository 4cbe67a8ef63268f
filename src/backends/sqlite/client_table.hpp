#pragma once

#include <vector>

#include "backends/sqlite/lifelines.hpp"
#include "backends/sqlite/sql.hpp"
#include "holdfast/status.hpp"

namespace holdfast::sqlite {

/// The table of clients: only what SQL there is. REQUIRES: inside a transaction. All throw SqlFailure.
class ClientTable {
 public:
  explicit ClientTable(Connection& connection) : connection_(connection) {}

  void insert(ClientNumber client, const ClientIdentity& identity);
  void erase(ClientNumber client);
  /// Some clients with numbers from `first` on.
  std::vector<ClientNumber> some_from(ClientNumber first, std::int64_t at_most);

 private:
  Connection& connection_;
};

}  // namespace holdfast::sqlite
