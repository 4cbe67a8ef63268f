#include "backends/sqlite/client_table.hpp"

namespace holdfast::sqlite {

// Prepared where they are used: a client comes and goes once.

void ClientTable::insert(ClientNumber client, const ClientIdentity& identity) {
  Statement(connection_,
            "INSERT OR REPLACE INTO clients (client_number, client_id, host, pid, command, label)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
      .run(client, identity.id, identity.host, identity.pid, identity.command, identity.label);
}

void ClientTable::erase(ClientNumber client) {
  Statement(connection_, "DELETE FROM clients WHERE client_number = ?1").run(client);
  Statement(connection_, "DELETE FROM watchers WHERE client = ?1").run(client);
}

std::vector<ClientNumber> ClientTable::some_from(ClientNumber first, std::int64_t at_most) {
  std::vector<ClientNumber> clients;
  Statement statement(connection_,
                      "SELECT client_number FROM clients WHERE client_number >= ?1 ORDER BY client_number LIMIT ?2");
  for (auto rows = statement.rows(first, at_most); rows.next();) clients.push_back(rows.integer(0));
  return clients;
}

}  // namespace holdfast::sqlite
