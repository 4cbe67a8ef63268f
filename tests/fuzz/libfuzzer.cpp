// The entry of one fuzzer; HOLDFAST_FUZZ_TARGET is the target's name.

#include <cstddef>
#include <cstdint>

#include "fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdfast::fuzz::HOLDFAST_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
