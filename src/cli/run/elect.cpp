#include <unistd.h>

#include <array>

#include "cli/command.hpp"
#include "cli/run/guarded_run.hpp"
#include "cli/run/job_flags.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

/// What is published if nothing was given: where the leader is.
std::string this_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

class Elect : public Command {
 public:
  void define(Parameters& parameters) override {
    flags_.define(parameters);
    parameters.text("--value", "TEXT", "what 'holdfast leader NAME' prints meanwhile (default: the name of this host)",
                    value_);
  }

  int execute() override {
    const LockName name(flags_.name());
    const LockOptions options = flags_.lock_options();
    RunTerms terms = flags_.terms();
    terms.kind = LockKind::election;
    const Store store = flags_.store();
    if (is_terminal(Stream::error)) tell_if_default(store);
    const std::string value = value_ ? *value_ : this_host();
    return run_guarded(store, flags_.job(store), terms,
                       [&](Client& client) { return leadership(client, name, value, options); });
  }

 private:
  JobFlags flags_;
  std::optional<std::string> value_;
};

}  // namespace

const CommandEntry elect_entry = {
    .name = "elect",
    .summary = "Run a command while leading an election",
    .details =
        "Waits until it leads, publishes a value, runs CMD, and resigns when CMD ends. HOLDFAST_TOKEN is the term.\n"
        "Everything else works as with 'holdfast run'. An election and a lock of the same name are independent.\n"
        "Examples:\n"
        "  holdfast elect scheduler --value \"$(hostname):8080\" -- ./scheduler\n"
        "  holdfast leader scheduler",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Elect>(); },
};

}  // namespace holdfast::cli
