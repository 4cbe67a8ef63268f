// The tool's entry: one subcommand per file. Reports errors and gives them their exit codes.
#include <fcntl.h>
#include <unistd.h>

#include <exception>
#include <span>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/secrets.hpp"
#include "cli/text/output.hpp"
#include "holdfast/error.hpp"

namespace holdfast::cli {
namespace {

/// A tool that was started without standard streams must not get other files under their numbers. What stands in for
/// them cannot be read or written, and is not passed on to a command.
void occupy_standard_streams() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = ::open("/", O_PATH | O_CLOEXEC);
  if (descriptor >= 0) ::close(descriptor);
}

int run_tool(std::span<char*> words) {
  occupy_standard_streams();
  try {
    std::vector<std::string> arguments(words.begin(), words.end());
    if (!arguments.empty()) arguments.erase(arguments.begin());
    hide_passwords(words);

    CommandLine command_line;
    if (arguments.empty()) {  // whoever wants to know gets help; a script that forgot everything does not get 0
      print(command_line.help({}));
      return exit_code::usage;
    }
    Command* const command = command_line.parse(std::move(arguments));
    return command != nullptr ? command->execute() : exit_code::ok;
  } catch (const UsageError& error) {
    tell(error.what());
    return exit_code::usage;
  } catch (const Error& error) {
    tell(printable(error.what()));
    return exit_code_of(error.errc());
  } catch (const std::exception& error) {
    tell(printable(error.what()));
    return exit_code::internal;
  }
}

}  // namespace
}  // namespace holdfast::cli

int main(int argc, char** argv) { return holdfast::cli::run_tool({argv, static_cast<std::size_t>(argc)}); }
