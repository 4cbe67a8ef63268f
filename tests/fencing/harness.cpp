#include "fencing/harness.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

namespace holdfast::fencing {
namespace {

constexpr std::uint64_t limit(int bits) { return std::uint64_t{1} << bits; }

std::uint64_t number(const std::string& text) { return text.empty() ? 0 : std::stoull(text); }

void raise_to(std::atomic<std::uint64_t>& largest, std::uint64_t value) {
  std::uint64_t before = largest;
  while (before < value && !largest.compare_exchange_weak(before, value)) {
  }
}

/// Writes `value` with `token`, which must be admitted, or refused and change nothing.
void expect(Complaints& complaints, Guarded& guarded, std::uint64_t token, const std::string& value, bool admitted) {
  const std::string before = guarded.value();
  if (guarded.write(Token(token), value) != admitted) {
    complaints.push_back("the token " + std::to_string(token) + (admitted ? " was refused" : " was admitted") +
                         " over '" + before + "'");
  }
  const std::string after = guarded.value();
  if (after != (admitted ? value : before)) {
    complaints.push_back("after the token " + std::to_string(token) + " the value is '" + after + "'");
  }
}

}  // namespace

Complaints complaints_about_order(Guarded& guarded) {
  Complaints complaints;
  std::uint64_t last = 0;
  for (const std::uint64_t token :
       {std::uint64_t{1}, std::uint64_t{9}, std::uint64_t{10}, std::uint64_t{256}, limit(31) - 1, limit(31), limit(53),
        limit(53) + 1, limit(63) - 1, limit(63), std::uint64_t{9'999'999'999'999'999'999U},
        std::uint64_t{10'000'000'000'000'000'000U}, UINT64_MAX - 1, UINT64_MAX}) {
    const std::string name = std::to_string(token);
    expect(complaints, guarded, token, "first-" + name, true);
    expect(complaints, guarded, token, "again-" + name, true);
    expect(complaints, guarded, token, "again-" + name, true);
    expect(complaints, guarded, last, "late-" + std::to_string(last), false);
    last = token;
  }
  expect(complaints, guarded, 1, "very-late", false);
  return complaints;
}

Complaints complaints_about_races(Guarded& guarded, int writes_per_thread) {
  constexpr int threads = 4;
  Complaints complaints;
  std::mutex mutex;
  std::atomic<std::uint64_t> next = 1;
  std::atomic<std::uint64_t> written = 0;  // the largest whose write has ended
  const auto complain = [&](const std::string& text) {
    const std::scoped_lock lock(mutex);
    complaints.push_back(text);
  };

  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < threads; ++i) {
      writers.emplace_back([&] {
        try {
          for (int round = 0; round < writes_per_thread; ++round) {
            const std::uint64_t token = next++;
            const std::string text = std::to_string(token);
            const bool admitted = guarded.write(Token(token), text);
            if (admitted) raise_to(written, token);
            const std::uint64_t at_least = written;
            const std::uint64_t seen = number(guarded.value());
            if (seen < at_least) complain(std::to_string(at_least) + " was replaced by " + std::to_string(seen));
            if (!admitted && seen <= token) complain(text + " was refused over " + std::to_string(seen));
          }
        } catch (const std::exception& error) {
          complain(error.what());
        }
      });
    }
  }
  // The largest token of all cannot be refused.
  const std::uint64_t last = next - 1;
  if (number(guarded.value()) != last) {
    complain("at the end there is " + guarded.value() + " and not " + std::to_string(last));
  }
  return complaints;
}

}  // namespace holdfast::fencing
