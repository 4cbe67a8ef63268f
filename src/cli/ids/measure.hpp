#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "holdfast/client.hpp"

namespace holdfast::cli {

/// How fast ids of one kind were made, by one thread.
struct IdFigure {
  std::string id = {};    ///< in JSON: "segment_local"
  std::string what = {};  ///< in words
  double per_second = 0;
};

/// Measures each kind for `each`. Uses names that nobody else uses in the store.
std::vector<IdFigure> measure_ids(Client& client, std::chrono::nanoseconds each);

std::string table_of(const std::vector<IdFigure>& figures);

}  // namespace holdfast::cli
