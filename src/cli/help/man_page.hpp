#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"

namespace holdfast::cli {

class Roff;

/// holdfast(1) in roff, made from what the subcommands say that they take.
std::string man_page(const std::vector<CommandLine::Description>& subcommands);

struct ManPageRow {
  std::string_view name;
  std::string_view meaning;
};

/// The forms of the URLs of the stores that this build has, and what they mean.
std::span<const ManPageRow> store_urls();

/// The page's other sections: from where the store is to what else to read.
void add_reference_sections(Roff& page);

}  // namespace holdfast::cli
