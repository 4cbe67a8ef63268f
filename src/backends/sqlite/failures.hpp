#pragma once

#include <exception>
#include <string>

#include "backends/sqlite/sql.hpp"
#include "spi/result.hpp"

namespace holdfast::sqlite {

/// Thrown where a store cannot be used, with what to do about it.
class Refusal : public std::exception {
 public:
  Refusal(Errc code, std::string detail) : failure_{code, std::move(detail)} {}
  const spi::Failure& failure() const { return failure_; }
  const char* what() const noexcept override { return failure_.detail.c_str(); }

 private:
  spi::Failure failure_;
};

/// What SQLite's complaint means for somebody who wants a lock. `committing`: it came when everything was written
/// already, so nobody knows.
spi::Failure explain(const SqlFailure& failure, const std::string& path, bool committing = false);

/// Nobody else can write: Errc::unreachable.
spi::Failure locked_by_another(const std::string& path);

/// What the error of a file operation means.
Errc meaning_of(int system_error);
/// Throws the Refusal for a file operation that failed; `what` was tried.
[[noreturn]] void refuse(int system_error, const std::string& what);

}  // namespace holdfast::sqlite
