#include "holdfast/version.hpp"

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

class Version : public Command {
 public:
  void define(Parameters& /*parameters*/) override {}

  int execute() override {
    print("holdfast " + std::string(version) + "\n");
    return exit_code::ok;
  }
};

}  // namespace

const CommandEntry version_entry = {
    .name = "version",
    .summary = "Print the version",
    .details = "Example:\n  holdfast version",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Version>(); },
};

}  // namespace holdfast::cli
