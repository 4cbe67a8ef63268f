#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/help/man_page.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

class Help : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.optional("SUBCOMMAND", "the subcommand to explain (default: list all of them)", name_);
    parameters.flag("--man", "print the manual page of the tool in roff format", man_);
  }

  int execute() override {
    if (man_ && !name_.empty()) throw UsageError("--man prints the page of the whole tool; leave out SUBCOMMAND");
    const CommandLine command_line;
    print(man_ ? man_page(command_line.descriptions()) : command_line.help(name_));
    return exit_code::ok;
  }

 private:
  std::string name_;
  bool man_ = false;
};

}  // namespace

const CommandEntry help_entry = {
    .name = "help",
    .summary = "Explain a subcommand",
    .details =
        "Examples:\n"
        "  holdfast help run\n"
        "  holdfast help --man | man -l -",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Help>(); },
};

}  // namespace holdfast::cli
