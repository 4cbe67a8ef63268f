#include <algorithm>
#include <array>
#include <sstream>

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/ids/decode.hpp"
#include "cli/ids/ids_json.hpp"
#include "cli/ids/measure.hpp"
#include "cli/ids/plan.hpp"
#include "cli/ids/take.hpp"
#include "cli/ids/workers.hpp"
#include "cli/store.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

using Choices = Parameters::Choices;

const Choices kinds = {"uuid4", "uuid7", "snowflake", "segment", "stepped", "date", "auto"};
const Choices actions = {"decode", "plan", "workers", "bench"};

Choices all_choices() {
  Choices all = kinds;
  all.insert(all.end(), actions.begin(), actions.end());
  return all;
}

class Id : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.required("KIND", "a kind of ids, or decode, plan, workers, bench", action_, all_choices());
    parameters.optional("NAME", "the name of the ids, or of their pool; decode: the id", name_);
    parameters.number("-n,--count", "how many ids to print (default: 1)", 1, most_ids, count_);
    parameters.flag("--json", "print a JSON object, with ids as texts", json_);
    parameters.choice("--form", {"decimal", "hex", "base62", "crockford"}, "how numbers are written", form_);
    parameters.text("--layout", "LAYOUT", "snowflake, decode: as 'id plan' prints it, or 'js' (default: 41/10/12/ms)",
                    layout_);
    parameters.text("--prefix", "TEXT", "date: what each id begins with", prefix_);
    parameters.number("--digits", "date: digits of the number within the day (default: 8)", 4, 9, digits_);
    parameters.text("--stores", "URLS", "stepped: the URLs of its stores, with spaces between them", stores_);
    parameters.flag("--set-up", "stepped: first tell the stores that they belong together", set_up_);
    parameters.number("--rate", "plan: ids per second that the busiest worker makes (default: 1000)", 1, most_ids,
                      rate_);
    parameters.number("--workers", "plan: workers at the same time (default: 10)", 1, most_ids, workers_);
    parameters.number("--years", "plan: for how long there are to be ids (default: 20)", 1, 200, years_);
    parameters.flag("--js", "plan: JavaScript reads the ids as numbers, which have 53 bits", js_);
    parameters.store(store_);
  }

  int execute() override {
    check_form();
    if (action_ == "decode") return decode();
    if (action_ == "plan") return plan();
    if (action_ == "workers") return workers();
    if (action_ == "bench") return bench();
    return take();
  }

 private:
  static constexpr int most_ids = 1'000'000'000;

  /// Flags of other kinds are mistakes that would otherwise go unnoticed.
  void check_form() const {
    const auto only_for = [&](bool given, const char* flag, std::initializer_list<std::string_view> users) {
      if (!given || std::ranges::find(users, action_) != users.end()) return;
      throw UsageError(std::string(flag) + " is not for 'holdfast id " + action_ + "'");
    };
    const bool is_kind = std::ranges::find(kinds, action_) != kinds.end();
    only_for(count_ && !is_kind, "--count", {});
    only_for(!form_.empty(), "--form", {"snowflake", "segment", "stepped", "auto", "decode"});
    only_for(layout_.has_value(), "--layout", {"snowflake", "decode"});
    only_for(prefix_.has_value(), "--prefix", {"date"});
    only_for(digits_.has_value(), "--digits", {"date"});
    only_for(stores_.has_value(), "--stores", {"stepped"});
    only_for(set_up_, "--set-up", {"stepped"});
    only_for(rate_.has_value(), "--rate", {"plan"});
    only_for(workers_.has_value(), "--workers", {"plan"});
    only_for(years_.has_value(), "--years", {"plan"});
    only_for(js_, "--js", {"plan"});
    const bool takes_name = action_ == "decode" || action_ == "workers" || (is_kind && needs_store(action_));
    if (takes_name && !name_) {
      throw UsageError("write 'holdfast id " + action_ + (action_ == "decode" ? " ID'" : " NAME'"));
    }
    if (!takes_name && name_) throw UsageError("'holdfast id " + action_ + "' takes no name");
  }

  ids::TextForm form() const {
    if (form_ == "hex") return ids::TextForm::hex;
    if (form_ == "base62") return ids::TextForm::base62;
    if (form_ == "crockford") return ids::TextForm::crockford;
    return ids::TextForm::decimal;
  }

  ids::SnowflakeLayout layout() const {
    if (!layout_) return {};
    if (*layout_ == "js") return ids::SnowflakeLayout::javascript();
    return ids::parse_snowflake_layout(*layout_);
  }

  int take() const {
    IdRequest request = {.kind = action_,
                         .name = name_.value_or(std::string()),
                         .count = static_cast<std::uint64_t>(count_.value_or(1)),
                         .store = store_,
                         .set_up = set_up_,
                         .layout = layout(),
                         .prefix = prefix_.value_or(std::string()),
                         .digits = static_cast<unsigned>(digits_.value_or(8)),
                         .form = form()};
    std::istringstream urls(stores_.value_or(std::string()));
    for (std::string url; urls >> url;) request.stores.push_back(url);
    const auto source = open_source(request);
    std::vector<std::string> texts;
    std::string lines;
    for (std::uint64_t left = request.count; left > 0;) {
      left -= source->take(left, texts);
      if (json_) continue;
      lines.clear();
      for (const std::string& text : texts) lines += printable_if_needed(text) + '\n';
      print(lines);
      texts.clear();
    }
    if (json_) print(to_json(action_, texts));
    return exit_code::ok;
  }

  /// Only a date's prefix can contain anything but digits and letters.
  std::string printable_if_needed(const std::string& text) const { return prefix_ ? printable(text) : text; }

  int decode() const {
    const DecodedId decoded = decode_id(*name_, form(), layout());
    print(json_ ? to_json(decoded) : text_of(decoded));
    return exit_code::ok;
  }

  int plan() const {
    const bool about_a_layout = rate_ || workers_ || years_ || js_;
    if (!about_a_layout) {
      const auto all = all_traits();
      print(json_ ? to_json(all) : text_of(all));
      return exit_code::ok;
    }
    IdNeeds needs = {.js = js_};
    if (rate_) needs.rate = static_cast<std::uint64_t>(*rate_);
    if (workers_) needs.workers = static_cast<std::uint64_t>(*workers_);
    if (years_) needs.years = *years_;
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const auto layout = plan_layout(needs, now);
    if (!layout) {
      tell("no layout of " + std::string(js_ ? "53" : "63") +
           " bits has so many ids per second, workers and years; use 'segment', which has no such limits, or 'uuid7'");
      return exit_code::configuration;
    }
    print(json_ ? to_json(*layout) : text_of(*layout, needs));
    return exit_code::ok;
  }

  int workers() const {
    const LockName name(*name_);
    const Store store = choose_store(store_);
    if (is_terminal(Stream::error)) tell_if_default(store);
    Client client = open_client(store);
    const auto pool = ids::look_at_workers(client, name);
    if (!pool) {
      tell("no snowflake has used the pool " + in_quotes(name.text()) + " in this store");
      return exit_code::busy;
    }
    print(json_ ? to_json(name.text(), *pool) : text_of(*pool));
    return exit_code::ok;
  }

  int bench() const {
    const Store store = choose_store(store_);
    tell_if_default(store);
    Client client = open_client(store, {.label = "bench"});
    const auto figures = measure_ids(client, std::chrono::milliseconds(300));
    print(json_ ? to_json(client.traits().store, figures) : table_of(figures));
    tell("one thread; these figures depend on the load of this machine, and some on the store");
    return exit_code::ok;
  }

  std::string action_;
  std::optional<std::string> name_;
  std::optional<int> count_;
  bool json_ = false;
  std::string form_;
  std::optional<std::string> layout_;
  std::optional<std::string> prefix_;
  std::optional<int> digits_;
  std::optional<std::string> stores_;
  bool set_up_ = false;
  std::optional<int> rate_;
  std::optional<int> workers_;
  std::optional<int> years_;
  bool js_ = false;
  StoreFlags store_;
};

}  // namespace

const CommandEntry id_entry = {
    .name = "id",
    .summary = "Make unique ids; read them, and plan them",
    .details =
        "  uuid4, uuid7    UUIDs: random; and rising, with the time. They need no store and no name\n"
        "  snowflake NAME  64 bits with the time; NAME is a pool of worker numbers\n"
        "  segment NAME    numbers of a counter; the tool takes as many as it prints\n"
        "  stepped NAME    numbers from several stores (--stores), each with an offset\n"
        "  date NAME       prefix, date and a number that begins with 1 each day\n"
        "  auto NAME       numbers of a counter: 1, 2, 3 ...\n"
        "  decode ID       what is in a UUID or a snowflake\n"
        "  plan            what each kind promises; with --rate, --workers, --years or --js: a layout for snowflakes\n"
        "  workers NAME    who has which worker number of a pool, since when\n"
        "  bench           how fast ids are made here\n"
        "Ids are printed one per line. docs/ids.md says which kind to choose.\n"
        "Examples:\n"
        "  holdfast id uuid7 -n 5\n"
        "  holdfast id auto invoice\n"
        "  holdfast id date order --prefix ORD- --digits 6\n"
        "  holdfast id snowflake orders --form base62\n"
        "  holdfast id decode 1541815603606036480\n"
        "  holdfast id plan --rate 50000 --workers 200 --years 30",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Id>(); },
};

}  // namespace holdfast::cli
