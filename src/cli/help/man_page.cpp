#include "cli/help/man_page.hpp"

#include <algorithm>

#include "cli/help/roff.hpp"
#include "holdfast/version.hpp"

namespace holdfast::cli {
namespace {

using Description = CommandLine::Description;

bool is_operand(const Parameter& parameter) { return parameter.kind == Parameter::Kind::operand; }

std::string operand(const Parameter& parameter) {
  const std::string name = italic(parameter.names);
  return parameter.required ? name : "[" + name + "]";
}

/// `run NAME [FLAGS] -- CMD [ARG...]`
std::string form(const Description& subcommand) {
  std::string text = bold("holdfast " + std::string(subcommand.entry.name));
  for (const Parameter& parameter : subcommand.parameters) {
    if (is_operand(parameter)) text += " " + operand(parameter);
  }
  text += " [" + italic("FLAGS") + "]";
  if (subcommand.takes_command) text += " " + bold("--") + " " + italic("CMD") + " [" + italic("ARG") + "...]";
  return text;
}

/// `-u, --url URL`
std::string head(const Parameter& parameter) {
  if (is_operand(parameter)) return italic(parameter.names);
  std::string names = parameter.names;
  if (const std::size_t comma = names.find(','); comma != std::string::npos) names.insert(comma + 1, " ");
  return parameter.placeholder.empty() ? bold(names) : bold(names) + " " + italic(parameter.placeholder);
}

void add_head(Roff& page, const std::vector<Description>& subcommands) {
  page.section("NAME");
  page.paragraph("holdfast \\- locks for a fleet of processes, by name");
  page.section("SYNOPSIS");
  page.paragraph(form(subcommands.front()));
  for (std::size_t i = 1; i < subcommands.size(); ++i) page.next_line(form(subcommands[i]));
  page.section("DESCRIPTION");
  page.prose(
      "Holds a lock that has a name while a command runs, so that of all processes that ask for this name, on one "
      "host\n"
      "or on many, one at a time runs. The lock is a lease in a store: it is kept alive while the command runs, and\n"
      "comes back by itself when its holder is dead. A command that can no longer be sure of its lock is ended before\n"
      "somebody else can have it.\n"
      "\n"
      "Who holds what, and who waits, can be listed, watched, and taken away.");
}

void add_subcommand(Roff& page, const Description& subcommand) {
  page.subsection(form(subcommand));
  page.paragraph(roff_escaped(std::string(subcommand.entry.summary) + "."));
  for (const bool operands : {true, false}) {
    for (const Parameter& parameter : subcommand.parameters) {
      if (is_operand(parameter) == operands) page.item(head(parameter), roff_escaped(parameter.help));
    }
  }
  page.prose(subcommand.entry.details);
}

}  // namespace

std::string man_page(const std::vector<Description>& subcommands) {
  Roff page("HOLDFAST", "1", "holdfast " + std::string(version), "User Commands");
  add_head(page, subcommands);
  page.section("SUBCOMMANDS");
  page.paragraph(roff_escaped("Each of them also takes ") + bold("-h, --help") + ", which prints its help.");
  for (const Description& subcommand : subcommands) add_subcommand(page, subcommand);
  add_reference_sections(page);
  return page.text();
}

}  // namespace holdfast::cli
