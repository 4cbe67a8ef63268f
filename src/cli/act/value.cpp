#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/store.hpp"
#include "cli/text/answer_json.hpp"
#include "cli/text/field.hpp"
#include "cli/text/output.hpp"
#include "cli/text/time_text.hpp"
#include "cli/text/whole_number.hpp"
#include "holdfast/register.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

/// Standard input to its end, as it is; of more than `most` bytes, the first `most` and one.
std::string standard_input(std::size_t most) {
  std::string text;
  std::array<char, 64UL * 1024> buffer{};
  while (text.size() <= most) {
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), std::min(buffer.size(), most + 1 - text.size()));
    if (count == 0) break;
    if (count < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "cannot read the value from standard input");
    }
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

class Value : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.required("ACTION", "get, set, cas or add", action_, {"get", "set", "cas", "add"});
    parameters.required("NAME", "the value's name", name_);
    parameters.optional("ARG", "set: VALUE; cas: VERSION; add: AMOUNT", first_);
    parameters.optional("VALUE", "cas: the value. For cas and set, '-' reads it from standard input", second_);
    parameters.text("--after", "VERSION", "get: wait until the version is larger than this", after_);
    parameters.duration("--wait", "get --after: wait at most this long, then exit 75 (default: for ever)", wait_);
    parameters.flag("--json", "print a JSON object with name, value and version", json_);
    parameters.flag("--raw", "print only the value, byte by byte, without a newline", raw_);
    parameters.exclusive("--json", "--raw");
    parameters.store(store_);
  }

  int execute() override {
    const LockName name(name_);
    check_form();
    const Store store = choose_store(store_);
    if (is_terminal(Stream::error)) tell_if_default(store);
    Client client = open_client(store);
    Register value(client, name);
    try {
      if (action_ == "get") return after_ ? get_after(value, version_in(*after_)) : answer(value.get());
      if (action_ == "set") return set(value, operand(*first_, client));
      if (action_ == "cas") return compare_and_set(value, operand(*second_, client));
      return add(value);
    } catch (const Error& error) {
      if (error.errc() != Errc::in_doubt) throw;
      tell(printable(error.what()) + "; run 'holdfast value get " + printable(name_) + "' to see what it is now");
      return exit_code::unavailable;
    }
  }

 private:
  /// Whether there are as many operands as the action takes, and no flag that it does not know.
  void check_form() const {
    const int given = (first_ ? 1 : 0) + (second_ ? 1 : 0);
    const auto expect = [&](int wanted, const char* form) {
      if (given != wanted) throw UsageError("write 'holdfast value " + std::string(form) + "'");
    };
    if (action_ == "get") expect(0, "get NAME");
    if (action_ == "set") expect(1, "set NAME VALUE");
    if (action_ == "cas") expect(2, "cas NAME VERSION VALUE");
    if (action_ == "add") expect(1, "add NAME AMOUNT");
    if (after_ && action_ != "get") throw UsageError("--after is for 'holdfast value get'");
    if (wait_ && !after_) throw UsageError("--wait needs --after VERSION: it says what to wait for");
  }

  static std::uint64_t version_in(const std::string& text) {
    const auto version = whole_number<std::uint64_t>(text);
    if (!version) throw UsageError(in_quotes(text) + " is not a version; 'holdfast value get' prints one");
    return *version;
  }

  /// The value that an operand gives, or stands for.
  static std::string operand(const std::string& text, const Client& client) {
    return text == "-" ? standard_input(client.traits().max_value_bytes) : text;
  }

  int get_after(Register& value, std::uint64_t seen) const {
    using Clock = std::chrono::steady_clock;
    const auto patience = wait_ ? detail::saturated(*wait_) : std::chrono::nanoseconds::max();
    const auto began = Clock::now();
    Versioned now = value.get();
    while (now.version <= seen) {
      const auto left = std::max(patience - (Clock::now() - began), std::chrono::nanoseconds::zero());
      const auto changed = value.wait_for_change_for(now.version, left);
      if (!changed) return unchanged(now.version, patience);
      now = *changed;
    }
    return answer(now);
  }

  int set(Register& value, const std::string& text) const { return answer({text, value.set(text)}); }

  int compare_and_set(Register& value, std::string text) const {
    const std::uint64_t expected = version_in(*first_);
    const Written written = value.compare_and_set(expected, std::move(text));
    if (written) return answer(written.now);
    tell("nothing was written: the version of " + in_quotes(name_) + " is " + std::to_string(written.now.version) +
         ", not " + std::to_string(expected));
    return exit_code::busy;
  }

  /// Not Register::add(): that does not tell the version.
  int add(Register& value) const {
    const auto amount = whole_number<std::int64_t>(*first_);
    if (!amount) throw UsageError(in_quotes(*first_) + " is not a whole number of 64 bits, such as 5 or -5");
    Versioned now = value.get();
    for (;;) {
      Written written = value.compare_and_set(now.version, std::to_string(sum_of(now, *amount)));
      if (written) return answer(written.now);
      now = std::move(written.now);
    }
  }

  std::int64_t sum_of(const Versioned& now, std::int64_t amount) const {
    const auto number = now.version == 0 ? 0 : whole_number<std::int64_t>(now.value);
    if (!number) {
      constexpr std::size_t most = 40;
      const std::string shown = in_quotes(now.value.substr(0, most)) + (now.value.size() > most ? "..." : "");
      throw UsageError("cannot add to " + in_quotes(name_) + ": its value, " + shown + ", is not a whole number");
    }
    std::int64_t sum = 0;
    if (__builtin_add_overflow(*number, amount, &sum)) {
      throw UsageError("cannot add " + std::to_string(amount) + " to " + in_quotes(name_) + ", which is " +
                       std::to_string(*number) + ": the sum does not fit into 64 bits");
    }
    return sum;
  }

  int unchanged(std::uint64_t version, std::chrono::nanoseconds patience) const {
    tell("the version of " + in_quotes(name_) + " is still " + std::to_string(version) + " after " +
         human(std::chrono::duration_cast<milliseconds>(patience)));
    return exit_code::busy;
  }

  int answer(const Versioned& now) const {
    if (raw_) {
      print(now.value);
    } else if (json_) {
      print(to_json(name_, now));
    } else {
      print(field("value", printable(now.value)) + field("version", std::to_string(now.version)));
    }
    return exit_code::ok;
  }

  std::string action_;
  std::string name_;
  std::optional<std::string> first_;
  std::optional<std::string> second_;
  std::optional<std::string> after_;
  std::optional<milliseconds> wait_;
  bool json_ = false;
  bool raw_ = false;
  StoreFlags store_;
};

}  // namespace

const CommandEntry value_entry = {
    .name = "value",
    .summary = "Read or write a small value with a version: optimistic locking",
    .details =
        "  get NAME                read the value and its version; version 0 means that it was never written\n"
        "  set NAME VALUE          write the value unconditionally\n"
        "  cas NAME VERSION VALUE  write it if the version is still VERSION (0: if never written); else exit 75\n"
        "  add NAME AMOUNT         add to a whole number (never written: 0); AMOUNT may be negative\n"
        "All actions print the resulting value and version. Every write makes the version larger.\n"
        "A VALUE of '-' is read from standard input; put one that begins with '-' after '--'.\n"
        "If the tool exits 69 and says that the write is in doubt, read the value to find out.\n"
        "Examples:\n"
        "  holdfast value set config/mode 'read only'\n"
        "  holdfast value cas config/mode 1 'read and write'\n"
        "  holdfast value add stock/4711 -5\n"
        "  holdfast value get config/mode --after 2 --wait 1m --json",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Value>(); },
};

}  // namespace holdfast::cli
