#pragma once

#include "backends/sqlite/host.hpp"
#include "backends/sqlite/numbers.hpp"
#include "backends/sqlite/sql.hpp"

namespace holdfast::sqlite {

/// Makes the tables of a new database; refuses one of another application or of a newer version; after a boot, ends
/// what was left from before it. Durable when it returns. True if there was such a boot, or the database is new: nobody
/// else's doors are worth keeping.
/// REQUIRES: a connection of Connection::Durability::full. Throws SqlFailure, Refusal (Errc::store_failed).
bool prepare_schema(Connection& connection, const Host& host);

/// The range of numbers that the database allows. REQUIRES: a prepared schema.
Numbers::Range read_range(Connection& connection);
/// Moves the limit ahead. REQUIRES: inside a transaction of Durability::full.
Numbers::Range extend_range(Connection& connection, const Host& host);

}  // namespace holdfast::sqlite
