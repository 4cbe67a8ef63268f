#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/lock_text.hpp"
#include "cli/output.hpp"
#include "cli/store.hpp"
#include "cli/time_text.hpp"
#include "holdfast/client.hpp"

namespace holdfast::cli {
namespace {

/// REQUIRES: a short name.
std::string field(const std::string& name, const std::string& value) {
  constexpr std::size_t column = 11;
  return name + ":" + std::string(column - name.size(), ' ') + value + "\n";
}

/// Command, label and reason, as far as they are known.
std::string about(const ClaimStatus& claim) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += field(std::string("  ") + name, printable(value));
  };
  add("command", claim.client.command);
  add("label", claim.client.label);
  add("reason", claim.reason);
  return text;
}

/// Other libraries say nothing about themselves in the locks that they share with us.
bool is_known(const ClientIdentity& client) { return !client.id.empty(); }

std::string place(const ClientIdentity& client) {
  if (!is_known(client)) return "unknown: not a client of Holdfast, or one that is described nowhere";
  return printable(client.host) + ", pid " + std::to_string(client.pid) + ", client " + printable(client.id);
}

std::string text_of(const LockStatus& lock) {
  std::string text = heading(printable(lock.name)) + "\n";
  text += field("mode", std::string(mode_of(lock)));
  if (lock.total > 0) text += field("permits", permits_of(lock) + " taken");
  text += field("token", lock.number == 0 ? "-" : to_string(token_of(lock)));
  for (const ClaimStatus& holder : lock.holders) {
    text += field("holder", place(holder.client)) + about(holder);
    if (is_known(holder.client)) text += field("  since", rfc3339(holder.since) + ", " + ago(holder.since));
    text += field("  lease", human(holder.lease_left) + " left");
  }
  if (lock.holders.empty()) text += field("holder", "-");
  text += field("waiters", std::to_string(lock.waiters.size()));
  std::size_t position = 0;
  for (const ClaimStatus& waiter : lock.waiters) {
    text += "  " + std::to_string(++position) + ". " + client_of(waiter) + ", since " + ago(waiter.since);
    text += (waiter.reason.empty() ? "" : ", " + printable(waiter.reason)) + "\n";
  }
  return text;
}

class Show : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.required("NAME", "the lock", name_);
    parameters.flag("--json", "print a JSON object", json_);
    parameters.url(url_);
  }

  int execute() override {
    const LockName name(name_);
    const Store store = choose_store(url_);
    prepare(store);
    const Client client(store.url);
    std::vector<LockStatus> found;
    for (const LockKind kind : {LockKind::lock, LockKind::semaphore, LockKind::election}) {
      if (auto lock = client.show(name, kind)) found.push_back(*std::move(lock));
    }
    tell_if_default(store);
    if (json_) {
      print(to_json(found.empty() ? LockStatus{.name = name_} : found.front()));
    } else if (found.empty()) {
      print(printable(name_) + " is free: nobody holds it and nobody waits for it\n");
    }
    for (const LockStatus& lock : found) {
      if (!json_) print(text_of(lock));
    }
    return exit_code::ok;
  }

 private:
  std::string name_;
  bool json_ = false;
  std::optional<std::string> url_;
};

}  // namespace

const CommandEntry show_entry = {
    .name = "show",
    .summary = "Show one lock: its holder, its token, who waits",
    .details =
        "A lock that nobody holds and nobody wants is free; that is not an error.\n"
        "A semaphore or an election of that name is shown below the lock; in JSON, where there is no lock.\n"
        "Examples:\n"
        "  holdfast show nightly-report\n"
        "  holdfast show nightly-report --json",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Show>(); },
};

}  // namespace holdfast::cli
