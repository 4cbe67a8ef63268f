#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "holdfast/client.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::faults {

using namespace std::chrono_literals;

/// A store in a file of its own, in a directory of its own; gone when destroyed.
class SqliteStore {
 public:
  const std::filesystem::path& directory() const { return directory_.path(); }
  std::filesystem::path file() const { return directory() / "locks.db"; }
  std::string url() const { return "sqlite:" + file().string(); }

 private:
  test::TemporaryDirectory directory_{test::memory_directory()};
};

/// Whether `count` clients come to stand in the line of `name`.
inline bool line_becomes(const Client& client, const LockName& name, std::size_t count) {
  return test::eventually([&] {
    const auto status = client.show(name);
    return (status ? status->waiters.size() : 0) == count;
  });
}

/// How long `call` takes.
template <class Call>
std::chrono::milliseconds time_of(Call call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
}

}  // namespace holdfast::faults
