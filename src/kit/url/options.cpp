#include "kit/url/options.hpp"

#include <algorithm>

#include "base/percent.hpp"
#include "kit/url/refuse_url.hpp"

namespace holdfast::kit {

std::string parse_prefix(const std::string& value, const std::string& store, std::string_view also_allowed) {
  constexpr std::size_t most_bytes = 64;
  const auto is_allowed = [&](char c) {
    return base::is_plain_in_names(c) || also_allowed.find(c) != std::string_view::npos;
  };
  if (value.empty() || value.size() > most_bytes || !std::ranges::all_of(value, is_allowed)) {
    std::string allowed = ". _ -";
    for (const char c : also_allowed) allowed += std::string(" ") + c;
    refuse_url(store, "has a prefix that is not made of 1 to 64 letters, digits and " + allowed);
  }
  return value;
}

bool TlsFiles::set(std::string_view option, const std::string& value) {
  if (option == "ca") {
    authorities_file = value;
  } else if (option == "cert") {
    certificate_file = value;
  } else if (option == "key") {
    key_file = value;
  } else {
    return false;
  }
  return true;
}

void TlsFiles::check(const std::string& store) const {
  if (certificate_file.empty() != key_file.empty()) refuse_url(store, "needs both cert and key, or neither");
}

}  // namespace holdfast::kit
