#include "faults/sqlite_store.hpp"

#include <stdexcept>

namespace holdfast::faults {

std::uint64_t SqliteStore::do_harm(Sabotage sabotage, std::chrono::milliseconds) {
  throw std::invalid_argument("nobody can do this to a file: " + std::string(name_of(sabotage)));
}

namespace {

const RegisterStore registered({.name = "sqlite", .make = [] { return std::make_unique<SqliteStore>(); }});

}  // namespace
}  // namespace holdfast::faults
