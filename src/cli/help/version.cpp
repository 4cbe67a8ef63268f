#include "holdfast/version.hpp"

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/help/traits_text.hpp"
#include "cli/store.hpp"
#include "cli/text/answer_json.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

/// The traits of a store that answers.
StoreTraits traits_of(const Store& store) {
  const Client client = open_client(store);
  client.show("holdfast/nothing-has-this-name");  // makes contact, and throws if there is none
  return client.traits();
}

class Version : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.flag("--json", "print a JSON object", json_);
    parameters.store(store_);
  }

  int execute() override {
    std::optional<StoreTraits> traits;
    if (store_.url) traits = traits_of(choose_store(store_));
    if (json_) {
      print(version_json(traits ? &*traits : nullptr));
    } else {
      print("holdfast " + std::string(version) + "\n" + (traits ? in_words(*traits) : ""));
    }
    return exit_code::ok;
  }

 private:
  bool json_ = false;
  StoreFlags store_;
};

}  // namespace

const CommandEntry version_entry = {
    .name = "version",
    .summary = "Print the version, and what a store promises",
    .details =
        "Without --url no store is opened, even if HOLDFAST_URL is set.\n"
        "Examples:\n"
        "  holdfast version\n"
        "  holdfast version --url sqlite:/var/lib/app/locks.db",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Version>(); },
};

}  // namespace holdfast::cli
