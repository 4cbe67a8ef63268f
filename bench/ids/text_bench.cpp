#include <benchmark/benchmark.h>
#include <uuid/uuid.h>

#include <algorithm>
#include <array>
#include <boost/uuid/string_generator.hpp>
#include <boost/uuid/uuid.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "figures.hpp"
#include "holdfast/ids/text.hpp"
#include "holdfast/ids/uuid.hpp"
#include "rates.hpp"

// The texts of ids, written into a buffer and read from one.

namespace holdfast::bench {
namespace {

using ids::TextForm;
using ids::Uuid;

constexpr Uuid example(0x017f'22e2'79b0'7cc3, 0x98c4'dc0c'0c07'398f);

double nanoseconds_of(auto work) {
  return nanoseconds_each([&] { benchmark::DoNotOptimize(work()); });
}

void texts_of_uuids(benchmark::State& state) {
  std::array<char, 37> buffer{};
  std::array<unsigned char, 16> of_libuuid{};
  boost::uuids::uuid of_boost{};
  const Uuid::Bytes bytes = example.bytes();
  std::copy(bytes.begin(), bytes.end(), of_libuuid.begin());
  std::copy(bytes.begin(), bytes.end(), of_boost.begin());
  const std::string text = to_string(example);
  boost::uuids::string_generator boost_reads;
  for (auto _ : state) {
    report(state, compare("UUID: to_chars", "ns", id_rounds,
                          {{"Holdfast",
                            [&] {
                              return nanoseconds_of([&] {
                                to_chars(buffer.data(), buffer.data() + Uuid::text_length, example);
                                return buffer[0];
                              });
                            }},
                           {"libuuid", [&] {
                              return nanoseconds_of([&] {
                                uuid_unparse_lower(of_libuuid.data(), buffer.data());
                                return buffer[0];
                              });
                            }}}));
    report(state, compare("UUID: to_string", "ns", id_rounds,
                          {{"Holdfast", [&] { return nanoseconds_of([&] { return to_string(example); }); }},
                           {"Boost 1.74", [&] { return nanoseconds_of([&] { return to_string(of_boost); }); }}}));
    report(state, compare("UUID: parse", "ns", id_rounds,
                          {{"Holdfast", [&] { return nanoseconds_of([&] { return Uuid::parse(text); }); }},
                           {"Boost 1.74", [&] { return nanoseconds_of([&] { return boost_reads(text); }); }},
                           {"libuuid", [&] {
                              return nanoseconds_of([&] { return uuid_parse(text.c_str(), of_libuuid.data()); });
                            }}}));
  }
}
BENCHMARK(texts_of_uuids)->Name("texts of UUIDs")->Iterations(1);

void texts_of_numbers(benchmark::State& state) {
  constexpr std::uint64_t id = 1541815603606036480;
  std::array<char, ids::longest_text> buffer{};
  for (auto _ : state) {
    for (const auto& [name, form] :
         {std::pair("decimal", TextForm::decimal), std::pair("hex", TextForm::hex),
          std::pair("base62", TextForm::base62), std::pair("Crockford", TextForm::crockford)}) {
      const std::string text = ids::to_text(id, form);
      const auto write = [&] { return ids::to_chars(buffer.data(), buffer.data() + buffer.size(), id, form).ptr; };
      const auto write_standard = [&] {
        return std::to_chars(buffer.data(), buffer.data() + buffer.size(), id, form == TextForm::hex ? 16 : 10).ptr;
      };
      const auto read_standard = [&] {
        std::uint64_t number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number, form == TextForm::hex ? 16 : 10);
        return number;
      };
      std::vector<Contender> writers = {{"Holdfast", [&] { return nanoseconds_of(write); }}};
      std::vector<Contender> readers = {
          {"Holdfast", [&] { return nanoseconds_of([&] { return ids::from_text(text, form); }); }}};
      if (form == TextForm::decimal || form == TextForm::hex) {
        writers.push_back({"std::to_chars", [&] { return nanoseconds_of(write_standard); }});
        readers.push_back({"std::from_chars", [&] { return nanoseconds_of(read_standard); }});
      }
      report(state, compare(std::string(name) + ": to_chars", "ns", id_rounds, writers));
      report(state, compare(std::string(name) + ": from_text", "ns", id_rounds, readers));
    }
  }
}
BENCHMARK(texts_of_numbers)->Name("texts of numbers")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
