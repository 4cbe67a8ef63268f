#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/look/json.hpp"
#include "cli/look/lock_details.hpp"
#include "cli/store.hpp"
#include "cli/text/output.hpp"
#include "holdfast/client.hpp"

namespace holdfast::cli {
namespace {

class Show : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.required("NAME", "the lock", name_);
    parameters.flag("--json", "print a JSON object", json_);
    parameters.store(store_);
  }

  int execute() override {
    const LockName name(name_);
    const Store store = choose_store(store_);
    const Client client = open_client(store);
    std::vector<LockStatus> found;
    for (const LockKind kind : {LockKind::lock, LockKind::semaphore, LockKind::election}) {
      if (auto lock = client.show(name, kind)) found.push_back(*std::move(lock));
    }
    tell_if_default(store);
    if (json_) {
      if (found.empty()) found.push_back({.name = name_});
      print(to_json_with_namesakes(found));
    } else if (found.empty()) {
      print(printable(name_) + " is free: nobody holds it and nobody waits for it\n");
    }
    for (const LockStatus& lock : found) {
      if (!json_) print(heading(printable(lock.name)) + "\n" + details_of(lock, std::chrono::system_clock::now()));
    }
    return exit_code::ok;
  }

 private:
  std::string name_;
  bool json_ = false;
  StoreFlags store_;
};

}  // namespace

const CommandEntry show_entry = {
    .name = "show",
    .summary = "Show one lock: its holder, its token and its waiters",
    .details =
        "A lock that nobody holds or waits for is free, which is not an error.\n"
        "A semaphore or an election of the same name is shown below the lock. In JSON it is in the member 'also' of\n"
        "the lock, or takes its place if there is no lock.\n"
        "Examples:\n"
        "  holdfast show nightly-report\n"
        "  holdfast show nightly-report --json",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Show>(); },
};

}  // namespace holdfast::cli
