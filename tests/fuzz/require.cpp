#include <cstdlib>
#include <iostream>

#include "fuzz/targets.hpp"

void holdfast::fuzz::require(bool is_true, std::string_view what) {
  if (is_true) return;
  std::cerr << "fuzz: not true: " << what << std::endl;
  std::abort();
}
