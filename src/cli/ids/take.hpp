#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/store.hpp"
#include "holdfast/ids/snowflake_layout.hpp"
#include "holdfast/ids/text.hpp"

namespace holdfast::cli {

/// What `id KIND` was asked for.
struct IdRequest {
  std::string kind = {};
  std::string name = {};  ///< empty where the kind needs none
  std::uint64_t count = 1;
  StoreFlags store = {};
  std::vector<std::string> stores = {};  ///< stepped: the URLs of its stores
  bool set_up = false;                   ///< stepped: tells them first what they are
  ids::SnowflakeLayout layout = {};      ///< snowflake
  std::string prefix = {};               ///< date
  unsigned digits = 8;                   ///< date
  ids::TextForm form = ids::TextForm::decimal;
};

/// Whether ids of this kind come from a store, and need a name.
bool needs_store(std::string_view kind);

/// Takes new ids, at most some thousands at a time.
class IdSource {
 public:
  virtual ~IdSource() = default;
  /// Appends some ids to `texts`, at least one and at most `most` of them; how many.
  virtual std::uint64_t take(std::uint64_t most, std::vector<std::string>& texts) = 0;
};

/// Throws UsageError if the request makes no sense, and holdfast::Error.
std::unique_ptr<IdSource> open_source(const IdRequest& request);

}  // namespace holdfast::cli
