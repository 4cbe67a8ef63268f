#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

class Help : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.optional("SUBCOMMAND", "what to explain; without it, the list of all", name_);
  }

  int execute() override {
    print(CommandLine().help(name_));
    return exit_code::ok;
  }

 private:
  std::string name_;
};

}  // namespace

const CommandEntry help_entry = {
    .name = "help",
    .summary = "Explain a subcommand",
    .details = "Example:\n  holdfast help run",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Help>(); },
};

}  // namespace holdfast::cli
