#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "faults/line.hpp"
#include "faults/store.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::faults {

/// A store in a file of its own, in a directory of its own; gone when destroyed.
class SqliteStore final : public Store {
 public:
  const std::filesystem::path& directory() const { return directory_.path(); }
  std::filesystem::path file() const { return directory() / "locks.db"; }
  std::string url() const override { return "sqlite:" + file().string(); }
  std::uint64_t do_harm(Sabotage sabotage, std::chrono::milliseconds length) override;

 private:
  test::TemporaryDirectory directory_{test::memory_directory()};
};

}  // namespace holdfast::faults
