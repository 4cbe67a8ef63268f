#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iomanip>
#include <string>
#include <thread>

#include "support/temporary_directory.hpp"

namespace holdfast::interop {

inline constexpr int turns_of_each_side = 100;

/// A number in a file that nothing protects but the lock, and who added to it: 'c' is us, `other` the other side.
class Counting {
 public:
  explicit Counting(char other) : other_(other) {
    std::ofstream(directory() + "/counter") << "0000000000";
    std::ofstream(directory() + "/turns") << "";
  }

  std::string directory() const { return directory_.path().string(); }
  int counter() const { return std::stoi(text_of(directory() + "/counter")); }
  std::string turns() const { return text_of(directory() + "/turns"); }

  /// Whether each side had its turns.
  bool enough() const {
    const std::string all = turns();
    return std::ranges::count(all, other_) >= turns_of_each_side && std::ranges::count(all, 'c') >= turns_of_each_side;
  }

  void count_one() const {
    const int number = counter();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::fstream(directory() + "/counter", std::ios::in | std::ios::out)
        << std::setw(10) << std::setfill('0') << number + 1;
    std::ofstream(directory() + "/turns", std::ios::app) << 'c';
  }

  bool is_right() const { return counter() == static_cast<int>(turns().size()); }

  void expect_that_all_were_counted() const {
    const std::string all = turns();
    EXPECT_EQ(counter(), static_cast<int>(all.size()));
    EXPECT_GE(std::ranges::count(all, other_), turns_of_each_side);
    EXPECT_GE(std::ranges::count(all, 'c'), turns_of_each_side);
    EXPECT_NE(all.find(std::string{other_, 'c'}), std::string::npos) << "they contended";
    EXPECT_NE(all.find(std::string{'c', other_}), std::string::npos);
  }

 private:
  static std::string text_of(const std::string& file) {
    std::string text;
    std::getline(std::ifstream(file), text, '\0');
    return text;
  }

  const char other_;
  const test::TemporaryDirectory directory_{test::memory_directory()};
};

/// For controls: whether `count` makes the counter wrong. Tries again, because on a busy machine two who do not exclude
/// each other may still never meet.
template <class Count>
bool goes_wrong(char other, Count count) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    const Counting counting(other);
    count(counting);
    if (!counting.is_right()) return true;
  }
  return false;
}

}  // namespace holdfast::interop
