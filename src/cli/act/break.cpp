#include <array>
#include <optional>
#include <utility>

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/look/break_marks.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/store.hpp"
#include "cli/text/output.hpp"
#include "cli/text/time_text.hpp"
#include "holdfast/client.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::array<std::pair<const char*, LockKind>, 3> kinds{
    {{"lock", LockKind::lock}, {"semaphore", LockKind::semaphore}, {"election", LockKind::election}}};

/// What of this name is held, of one kind or of all.
std::vector<LockStatus> held(const Client& client, const LockName& name, const std::string& only_kind) {
  std::vector<LockStatus> found;
  for (const auto& [word, kind] : kinds) {
    if (!only_kind.empty() && only_kind != word) continue;
    std::optional<LockStatus> lock = client.show(name, kind);
    if (lock && !lock->holders.empty()) found.push_back(*std::move(lock));
  }
  return found;
}

/// What a holder has: `the lock 'x'`, with its token.
std::string possession(const LockStatus& lock, const ClaimStatus& holder) {
  const std::string name = in_quotes(lock.name);
  std::string what = "the lock " + name;
  if (lock.kind == LockKind::election) what = "the leadership of " + name;
  if (holder.mode == ClaimMode::shared) what = "its share of the lock " + name;
  if (holder.mode == ClaimMode::permits) {
    what =
        std::to_string(holder.permits) + (holder.permits == 1 ? " permit" : " permits") + " of the semaphore " + name;
  }
  return what + " (token " + to_string(token_of(holder)) + ")";
}

/// Where holders cannot be asked, nobody can tell them anything.
void warn_of_silence(const Client& client) {
  if (client.traits().release_requests) return;
  tell(
      "warning: this store cannot tell a holder that its lock was broken; 'run' finds out at its next renewal, "
      "within a third of its --ttl, and until then its command works beside the next holder's");
}

class Break : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.required("NAME", "the lock", name_);
    parameters.flag("--yes", "take it away; without this flag, only print who would lose it", yes_);
    parameters.choice("--kind", {"lock", "semaphore", "election"}, "which one, if several things of that name are held",
                      kind_);
    parameters.duration("--ask", "ask the holders to release it first; those who have not after this time lose it",
                        ask_);
    parameters.text("--reason", "TEXT", "why; holders that are asked are told", reason_);
    parameters.store(store_);
  }

  int execute() override {
    const LockName name(name_);
    if (!reason_.empty() && !ask_)
      throw UsageError("--reason is for holders that are asked; add --ask DUR, such as 30s");
    const Store store = choose_store(store_);
    Client client = open_client(store);
    const std::vector<LockStatus> found = held(client, name, kind_);
    tell_if_default(store);
    if (found.empty()) return nobody();
    if (found.size() > 1) throw UsageError(several(found));
    warn_of_silence(client);
    if (!yes_) return preview(found.front());
    return ask_ ? ask_first(client, found.front(), *ask_) : take(client, found.front());
  }

 private:
  int nobody() const {
    print("nobody holds " + (kind_.empty() ? "" : "the " + kind_ + " ") + in_quotes(name_) + "\n");
    return exit_code::ok;
  }

  std::string several(const std::vector<LockStatus>& found) const {
    std::string words;
    for (const auto& [word, kind] : kinds) {
      for (const LockStatus& lock : found) {
        if (lock.kind == kind) words += (words.empty() ? "--kind " : ", --kind ") + std::string(word);
      }
    }
    return "several things called " + in_quotes(name_) + " are held; say which is meant: " + words;
  }

  static int preview(const LockStatus& lock) {
    const auto now = std::chrono::system_clock::now();
    for (const ClaimStatus& holder : lock.holders) {
      const std::string held = is_known(holder.client) ? ", held for " + age(holder.since, now) : "";
      tell(client_of(holder) + " would lose " + possession(lock, holder) + held);
    }
    tell("nothing was changed; add --yes to take it away");
    return exit_code::usage;
  }

  /// For those who watch. What an operator has to do does not depend on it.
  static void announce(Client& client, const LockStatus& lock) {
    try {
      leave_mark(client, {.name = lock.name, .kind = lock.kind, .up_to = lock.number});
    } catch (const Error& error) {
      tell("the break could not be recorded, so 'holdfast watch' will show a release: " + printable(error.what()));
    }
  }

  int take(Client& client, const LockStatus& lock) const {
    announce(client, lock);
    if (!client.evict(name_, lock.kind, lock.number)) return nobody();
    for (const ClaimStatus& holder : lock.holders) {
      print("took " + possession(lock, holder) + " from " + client_of(holder) + "\n");
    }
    return exit_code::ok;
  }

  int ask_first(Client& client, const LockStatus& lock, milliseconds within) const {
    for (const ClaimStatus& holder : lock.holders) {
      tell("asking " + client_of(holder) + " to release " + possession(lock, holder) + " within " + human(within));
    }
    const Revoked revoked = client.revoke(name_, {.reason = reason_, .within = within}, lock.kind);
    if (revoked == Revoked::not_held) return nobody();
    if (revoked == Revoked::evicted) announce(client, lock);
    // Which of several holders released it is not known.
    const char* const doubt = lock.holders.size() > 1 ? ", unless it had released it already" : "";
    for (const ClaimStatus& holder : lock.holders) {
      print(revoked == Revoked::let_go
                ? client_of(holder) + " has released " + possession(lock, holder) + "\n"
                : "took " + possession(lock, holder) + " from " + client_of(holder) + doubt + "\n");
    }
    return exit_code::ok;
  }

  std::string name_;
  bool yes_ = false;
  std::string kind_;
  std::optional<milliseconds> ask_;
  std::string reason_;
  StoreFlags store_;
};

}  // namespace

const CommandEntry break_entry = {
    .name = "break",
    .summary = "Take a lock away from whoever holds it",
    .details =
        "The holder is told, but it may still be working. The resource must refuse what it writes from now on, by its\n"
        "token, which is smaller than the next holder's. 'run' ends its command and exits 79. Waiters stay in line.\n"
        "On Redis with layout=plain the holder is not told; 'run' finds out within a third of its --ttl.\n"
        "If nobody holds the lock, the tool says so and exits 0. Without --yes it changes nothing and exits 64.\n"
        "Examples:\n"
        "  holdfast break nightly-report\n"
        "  holdfast break nightly-report --yes\n"
        "  holdfast break nightly-report --yes --ask 30s --reason 'the host goes down at noon'",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Break>(); },
};

}  // namespace holdfast::cli
