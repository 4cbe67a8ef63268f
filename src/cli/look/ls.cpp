#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/look/json.hpp"
#include "cli/look/lock_row.hpp"
#include "cli/store.hpp"
#include "cli/text/output.hpp"
#include "cli/text/table.hpp"
#include "holdfast/client.hpp"

namespace holdfast::cli {
namespace {

enum class Detail { usual, long_form };

std::string table_of(const std::vector<LockStatus>& locks, Detail detail) {
  std::vector<std::string> headings(lock_row_headings.begin(), lock_row_headings.end());
  if (detail == Detail::long_form) headings.emplace_back("REASON");
  Table table(std::move(headings));
  const auto now = std::chrono::system_clock::now();
  for (const LockStatus& lock : locks) {
    const LockRow row = row_of(lock, now);
    std::vector<std::string> cells = {row.name, row.mode, row.holder, row.since(), row.ttl, row.token, row.waiters};
    if (detail == Detail::long_form) cells.push_back(row.reason);
    table.add(std::move(cells));
  }
  return table.text();
}

/// Each name once, also when there is a semaphore and an election of that name.
std::string names_of(const std::vector<LockStatus>& locks) {
  std::string text;
  std::string_view previous;
  for (const LockStatus& lock : locks) {  // by name
    if (lock.name != previous) text += printable(lock.name) + "\n";
    previous = lock.name;
  }
  return text;
}

class List : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.optional("PREFIX", "only locks whose names begin with this", prefix_);
    parameters.flag("-l,--long", "also show why each lock is held (--reason of 'holdfast run')", long_);
    parameters.flag("--json", "print a JSON array of locks", json_);
    parameters.flag("--names", "print only the names, one per line and each of them once", names_);
    parameters.exclusive("--json", "--names");
    parameters.store(store_);
  }

  int execute() override {
    const Store store = choose_store(store_);
    const std::vector<LockStatus> locks = open_client(store).list(prefix_);
    tell_if_default(store);
    if (json_) {
      print(to_json(locks));
    } else if (names_) {
      print(names_of(locks));
    } else if (!locks.empty()) {
      print(table_of(locks, long_ ? Detail::long_form : Detail::usual));
    } else {
      tell(prefix_.empty() ? "no lock is held" : "no lock whose name begins with " + in_quotes(prefix_) + " is held");
    }
    return exit_code::ok;
  }

 private:
  std::string prefix_;
  bool long_ = false;
  bool json_ = false;
  bool names_ = false;
  StoreFlags store_;
};

}  // namespace

const CommandEntry ls_entry = {
    .name = "ls",
    .summary = "List the locks that are held or waited for",
    .details =
        "TTL is the time left of the lease; a healthy holder renews it long before its end. For a semaphore, MODE\n"
        "says how many permits are held.\n"
        "Examples:\n"
        "  holdfast ls\n"
        "  holdfast ls -l\n"
        "  holdfast ls invoices/ --json\n"
        "  holdfast ls --names",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<List>(); },
};

}  // namespace holdfast::cli
