#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/help/completion_script.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

class Completion : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.required("SHELL", "bash, zsh or fish", shell_, {"bash", "zsh", "fish"});
  }

  int execute() override {
    const CommandLine command_line;
    print(script(completion_model(command_line.descriptions())));
    return exit_code::ok;
  }

 private:
  std::string script(const CompletionModel& model) const {
    if (shell_ == "bash") return bash_completion(model);
    if (shell_ == "zsh") return zsh_completion(model);
    return fish_completion(model);
  }

  std::string shell_;
};

}  // namespace

const CommandEntry completion_entry = {
    .name = "completion",
    .summary = "Print a script that completes command lines in a shell",
    .details =
        "Completes subcommands, flags and their values, the names of locks, and the command after '--'. The\n"
        "Debian package installs these scripts.\n"
        "Examples:\n"
        "  source <(holdfast completion bash)\n"
        "  source <(holdfast completion zsh)\n"
        "  holdfast completion fish | source\n"
        "  holdfast completion bash > ~/.local/share/bash-completion/completions/holdfast",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Completion>(); },
};

}  // namespace holdfast::cli
