#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/lock_text.hpp"
#include "cli/output.hpp"
#include "cli/store.hpp"
#include "cli/table.hpp"
#include "cli/time_text.hpp"
#include "holdfast/client.hpp"

namespace holdfast::cli {
namespace {

std::string table_of(const std::vector<LockStatus>& locks) {
  Table table({"NAME", "MODE", "HOLDER", "SINCE", "TTL", "TOKEN", "WAITERS"});
  for (const LockStatus& lock : locks) {
    std::string holder = "-";
    std::string since = "-";
    std::string ttl = "-";
    if (!lock.holders.empty()) {
      const ClaimStatus& first = lock.holders.front();
      holder = client_of(first);
      if (lock.holders.size() > 1) holder += " and " + std::to_string(lock.holders.size() - 1) + " more";
      since = ago(first.since);
      ttl = human(first.lease_left);
    }
    const std::string token = lock.number == 0 ? "-" : to_string(token_of(lock));
    table.add({printable(lock.name), std::string(mode_of(lock)), holder, since, ttl, token,
               std::to_string(lock.waiters.size())});
  }
  return table.text();
}

class List : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.optional("PREFIX", "only locks whose names begin with this", prefix_);
    parameters.flag("--json", "print a JSON array of locks", json_);
    parameters.store(store_);
  }

  int execute() override {
    const Store store = choose_store(store_);
    const std::vector<LockStatus> locks = open_client(store).list(prefix_);
    tell_if_default(store);
    if (json_) {
      print(to_json(locks));
    } else if (!locks.empty()) {
      print(table_of(locks));
    } else {
      tell(prefix_.empty() ? "no lock is held" : "no lock whose name begins with " + in_quotes(prefix_) + " is held");
    }
    return exit_code::ok;
  }

 private:
  std::string prefix_;
  bool json_ = false;
  StoreFlags store_;
};

}  // namespace

const CommandEntry ls_entry = {
    .name = "ls",
    .summary = "List the locks that are held or waited for",
    .details =
        "TTL is what is left of the lease; a healthy holder renews it long before its end.\n"
        "Examples:\n"
        "  holdfast ls\n"
        "  holdfast ls invoices/ --json",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<List>(); },
};

}  // namespace holdfast::cli
