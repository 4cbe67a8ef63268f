#include "cli/ids/measure.hpp"

#include <array>
#include <cstdio>
#include <random>
#include <vector>

#include "cli/text/table.hpp"
#include "holdfast/ids/auto_increment.hpp"
#include "holdfast/ids/date_counter.hpp"
#include "holdfast/ids/segment.hpp"
#include "holdfast/ids/snowflake.hpp"
#include "holdfast/ids/uuid4.hpp"
#include "holdfast/ids/uuid7.hpp"

namespace holdfast::cli {
namespace {

using Clock = std::chrono::steady_clock;

LockName new_name() {
  std::random_device random;
  std::array<char, 32> digits = {};
  std::snprintf(digits.data(), digits.size(), "%08x%08x", random(), random());
  return "holdfast-bench-" + std::string(digits.data());
}

/// So that the compiler must make what nobody looks at.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "m"(value) : "memory");
}

/// `make` makes `batch` ids.
template <class Make>
double per_second(std::chrono::nanoseconds length, std::uint64_t batch, Make make) {
  make();  // takes what is taken once: a worker number, the first segment
  std::uint64_t made = 0;
  const auto began = Clock::now();
  auto now = began;
  do {
    make();
    made += batch;
    now = Clock::now();
  } while (now - began < length);
  return static_cast<double>(made) / std::chrono::duration<double>(now - began).count();
}

/// The same for calls that make one id each.
template <class Next>
double calls_per_second(std::chrono::nanoseconds length, Next next) {
  constexpr std::uint64_t calls = 1'000;
  return per_second(length, calls, [&] {
    for (std::uint64_t call = 0; call < calls; ++call) keep(next());
  });
}

std::string rounded(double per_second) {
  std::array<char, 32> text = {};
  const char* unit = "";
  for (const char* larger : {" thousand", " million", " billion"}) {
    if (per_second < 1'000) break;
    per_second /= 1'000;
    unit = larger;
  }
  std::snprintf(text.data(), text.size(), "%.3g%s", per_second, unit);
  return text.data();
}

}  // namespace

std::vector<IdFigure> measure_ids(Client& client, std::chrono::nanoseconds each) {
  constexpr std::size_t batch = 256;
  std::vector<ids::Uuid> uuids(batch);
  ids::Uuid4 uuid4;
  ids::Uuid7 uuid7;
  ids::Segment segment(client, new_name());
  ids::Segment::Local local(segment);
  ids::Snowflake snowflake(client, new_name());
  ids::AutoIncrement counter(client, new_name());
  ids::DateCounter date(client, new_name());
  const auto fill = [&](auto& generator) {
    return per_second(each, batch, [&] {
      generator.fill(uuids);
      keep(uuids.front());
    });
  };
  return {
      {"uuid4", "UUID version 4, one by one", calls_per_second(each, [&] { return uuid4.next(); })},
      {"uuid4_fill", "UUID version 4, 256 at a time", fill(uuid4)},
      {"uuid7", "UUID version 7, one by one", calls_per_second(each, [&] { return uuid7.next(); })},
      {"uuid7_fill", "UUID version 7, 256 at a time", fill(uuid7)},
      {"segment_local", "segment, a handle of this thread", calls_per_second(each, [&] { return local.next(); })},
      {"segment", "segment, shared by threads", calls_per_second(each, [&] { return segment.next(); })},
      {"snowflake", "snowflake (its layout has 4.096 million)",
       calls_per_second(each, [&] { return snowflake.next(); })},
      {"auto", "auto, a request for each id", per_second(each, 1, [&] { keep(counter.next()); })},
      {"auto_1000", "auto, a request for 1,000 ids", per_second(each, 1'000, [&] { keep(counter.reserve(1'000)); })},
      {"date", "date, a request for each id", per_second(each, 1, [&] { keep(date.next()); })},
  };
}

std::string table_of(const std::vector<IdFigure>& figures) {
  Table table({"KIND", "PER SECOND"});
  for (const IdFigure& figure : figures) table.add({figure.what, rounded(figure.per_second)});
  return table.text();
}

}  // namespace holdfast::cli
