#include "spi/script.hpp"

#include <random>

#include "spi/part_name.hpp"

namespace holdfast::spi_suite {
namespace {

constexpr std::uint32_t total = 3;

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  Step next() {
    Step step;
    step.client = static_cast<std::size_t>(any(Step::clients));
    const int name = any(Step::names);
    step.name = name_of(name);
    step.claim = name * Step::claims_per_name + any(Step::claims_per_name);
    const int dice = any(100);
    if (dice < 38) {
      acquire(step);
    } else if (dice < 66) {
      step.kind = Step::Kind::release;
    } else if (dice < 79) {
      renew(step);
    } else if (dice < 87) {
      step.kind = Step::Kind::downgrade;
    } else if (dice < 90) {
      step.kind = Step::Kind::evict;
      step.of = any_kind();
      step.number = any(3);
    } else if (dice < 93) {
      step.kind = Step::Kind::ask_to_release;
      step.of = any_kind();
      step.text = "reason " + std::to_string(any(1000));
      step.number = any(3);
    } else if (dice < 95) {
      step.kind = Step::Kind::resize;
      step.number = std::int64_t{total} - 1 + any(3);
    } else if (dice < 98) {
      step.kind = Step::Kind::list;
      step.text = any(2) == 0 ? "" : step.name.text().substr(0, 4 + static_cast<std::size_t>(any(4)));
    } else {
      use_register(step);
    }
    return step;
  }

 private:
  int any(int below) { return static_cast<int>(random_() % static_cast<std::uint64_t>(below)); }
  LockKind any_kind() { return any(2) == 0 ? LockKind::lock : LockKind::semaphore; }
  /// The last one is a part of the one before.
  static LockName name_of(int name) {
    if (name == Step::names - 1) return spi::PartName::of(name_of(name - 1), "part");
    return "name/" + std::to_string(name);
  }

  void acquire(Step& step) {
    step.client = static_cast<std::size_t>(step.claim % Step::clients);  // a claim has one owner
    step.options = {.name = step.name, .mode = mode_of(step.claim), .reason = "claim " + std::to_string(step.claim)};
    if (any(4) == 0) step.options.when_busy = WhenBusy::refuse;
    if (any(6) == 0) step.options.replaces = neighbour_of(step.claim);
    if (step.options.mode.kind == ClaimMode::permits && any(8) == 0) ++step.options.mode.limit;
    if (any(50) == 0) step.options.lease = 0ms;
    if (any(5) == 0) step.options.lock_delay = 24h;  // nobody dies here, so that changes nothing
  }

  /// Another claim of the same line, or the same.
  int neighbour_of(int claim) {
    const int first = claim - claim % Step::claims_per_name;
    if (mode_of(claim).kind == ClaimMode::permits)
      return first + Step::of_locks + any(Step::claims_per_name - Step::of_locks);
    return first + any(Step::of_locks);
  }

  void renew(Step& step) {
    step.kind = Step::Kind::renew;
    for (int count = 1 + any(4); count > 0; --count) {
      const int name = any(Step::names);
      const int claim = name * Step::claims_per_name + any(Step::claims_per_name);
      step.refs.push_back({claim, name_of(name), any(3) == 0 ? 0ms : long_lease, spi::kind_of(mode_of(claim))});
    }
  }

  void use_register(Step& step) {
    constexpr Step::Kind kinds[] = {Step::Kind::read, Step::Kind::write_if, Step::Kind::add};
    step.kind = kinds[any(3)];
    step.number = any(4);
    step.text = any(2) == 0 ? std::to_string(any(100)) : "text";
  }

  std::mt19937_64 random_;
};

std::string mode_text(const Mode& mode) {
  switch (mode.kind) {
    case ClaimMode::exclusive: return "exclusive";
    case ClaimMode::shared: return "shared";
    case ClaimMode::permits: return std::to_string(mode.permits) + " of " + std::to_string(mode.limit);
  }
  return {};
}

}  // namespace

/// Of the claims of a name, the first third is exclusive, the second shared, and the last one permits.
Mode mode_of(int claim) {
  const int slot = claim % Step::claims_per_name;
  if (slot < 3) return exclusive;
  if (slot < Step::of_locks) return shared;
  return permits(static_cast<std::uint32_t>(slot - Step::of_locks + 1), total);
}

std::string Step::describe() const {
  const std::string who = "client " + std::to_string(client) + ": ";
  const std::string what = " '" + name.text() + "'";
  const std::string thing = (of == LockKind::semaphore ? " semaphore" : " lock") + what;
  const std::string which = what + " claim " + std::to_string(claim);
  switch (kind) {
    case Kind::acquire:
      return who + "acquire" + which + " " + mode_text(options.mode) +
             (options.when_busy == WhenBusy::refuse ? ", or refuse" : "") +
             (options.replaces ? ", replaces " + std::to_string(*options.replaces) : "") +
             (options.lease == 0ms ? ", without a lease" : "") + (options.lock_delay > 0ms ? ", with a delay" : "");
    case Kind::release: return who + "release" + which;
    case Kind::renew: {
      std::string all = who + "renew";
      for (const Ref& ref : refs) all += " " + std::to_string(ref.claim) + (ref.lease == 0ms ? "?" : "");
      return all;
    }
    case Kind::downgrade: return who + "downgrade" + which;
    case Kind::evict: return who + "evict" + thing + ", but not the newest " + std::to_string(number);
    case Kind::ask_to_release:
      return who + "ask to release" + thing + " for " + text + " within " + std::to_string(number) + " hours";
    case Kind::resize: return who + "resize" + what + " to " + std::to_string(number);
    case Kind::list: return who + "list '" + text + "'";
    case Kind::read: return who + "read" + what;
    case Kind::write_if:
      return who + "write" + what + " if its version is " +
             (number == 0 ? std::string("0") : "the newest but " + std::to_string(number - 1)) + ": " + text;
    case Kind::add: return who + "add" + what + " " + std::to_string(number);
  }
  return who;
}

std::vector<Step> random_script(std::uint64_t seed, std::size_t steps) {
  Writer writer(seed);
  std::vector<Step> script;
  script.reserve(steps);
  while (script.size() < steps) script.push_back(writer.next());
  return script;
}

}  // namespace holdfast::spi_suite
