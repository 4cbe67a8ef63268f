#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/store.hpp"
#include "cli/text/answer_json.hpp"
#include "cli/text/output.hpp"
#include "holdfast/election.hpp"

namespace holdfast::cli {
namespace {

class ShowLeader : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.required("NAME", "the election", name_);
    parameters.flag("--json", "print a JSON object with name, value and term", json_);
    parameters.store(store_);
  }

  int execute() override {
    const LockName name(name_);
    const Store store = choose_store(store_);
    if (is_terminal(Stream::error)) tell_if_default(store);
    Client client = open_client(store);
    const std::optional<Leader> leader = Election(client, name).leader();
    if (!leader) {
      tell("nobody leads " + in_quotes(name_));
      return exit_code::busy;
    }
    print(json_ ? to_json(name, *leader) : printable(leader->value) + "\n");
    return exit_code::ok;
  }

 private:
  std::string name_;
  bool json_ = false;
  StoreFlags store_;
};

}  // namespace

const CommandEntry leader_entry = {
    .name = "leader",
    .summary = "Print what the leader of an election has published",
    .details =
        "If nobody leads, the tool says so and exits 75. Each later leader has a larger term.\n"
        "Examples:\n"
        "  holdfast leader scheduler\n"
        "  holdfast leader scheduler --json",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<ShowLeader>(); },
};

}  // namespace holdfast::cli
