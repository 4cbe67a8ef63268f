#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace holdfast::cli {

class Roff;

/// holdfast(1) in roff, made from what the subcommands say that they take.
std::string man_page(const std::vector<CommandLine::Description>& subcommands);

/// The page's other sections: from where the store is to what else to read.
void add_reference_sections(Roff& page);

}  // namespace holdfast::cli
