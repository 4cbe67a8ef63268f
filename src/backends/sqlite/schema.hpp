#pragma once

#include <cstdint>
#include <string>

#include "backends/sqlite/machine.hpp"
#include "backends/sqlite/mailbox.hpp"
#include "backends/sqlite/numbers.hpp"
#include "backends/sqlite/sql.hpp"

namespace holdfast::sqlite {

/// Makes the tables of a new database; refuses one of another application or of a newer version; after a boot, ends
/// what was left from before it, `mailboxes` included. All that is in the database is durable when it returns. `log` is the
/// path of the write-ahead log. REQUIRES: a connection of Connection::Durability::full, which becomes
/// Connection::Durability::normal. Throws SqlFailure, Refusal.
void prepare_schema(Connection& connection, const Machine& machine, const std::string& log, const Mailboxes& mailboxes);

/// Lets SQLite look for damage. False if the database is so large that this would take too long. REQUIRES: outside of a
/// transaction. Throws SqlFailure.
bool check_structure(Connection& connection);

/// The range of numbers that the database allows. REQUIRES: a prepared schema.
Numbers::Range read_range(Connection& connection);
/// Moves the limit ahead. REQUIRES: inside a transaction of Durability::full.
Numbers::Range extend_range(Connection& connection, const Machine& machine);

// A process may be killed after it has written a durable transaction to the log and before the log is synced. As long
// as others have the file open, nobody sees that transaction. But whoever opens it alone finds it in the log, takes it
// for committed, and would rely on what the next power loss undoes. So every durable transaction leaves a mark, which
// is taken away when it is on the disk; and whoever opens the file and finds a mark syncs the log first.

/// The last step of a durable transaction: leaves a mark, and returns it.
std::int64_t mark(Connection& connection);
/// Syncs the log, if there is a mark: whoever opens the database does so before relying on anything in it. The
/// connection becomes Connection::Durability::normal. Throws SqlFailure, Refusal.
void confirm_what_was_left(Connection& connection, const std::string& log);
/// The transaction of that mark is on the disk. The connection becomes Connection::Durability::normal.
void confirm(Connection& connection, std::int64_t mark);

}  // namespace holdfast::sqlite
