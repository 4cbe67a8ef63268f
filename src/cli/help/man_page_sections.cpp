// The parts of the manual page that no subcommand owns.
#include <algorithm>
#include <array>

#include "cli/exit_code.hpp"
#include "cli/help/man_page.hpp"
#include "cli/help/roff.hpp"

namespace holdfast::cli {
namespace {

struct Row {
  std::string_view name;
  std::string_view meaning;
};

/// The forms of URLs, by the backend's name.
struct StoreForm {
  std::string_view backend;
  Row row;
};
constexpr std::array store_forms = {
    StoreForm{"memory", {"memory:, memory:NAME", "inside this process only; for experiments"}},
    StoreForm{"sqlite", {"sqlite:/PATH/FILE.db", "a file for the processes of one user on one host"}},
    StoreForm{"redis",
              {"redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]", "a Redis server, for all hosts that reach it"}},
    StoreForm{"redis", {"rediss://...", "the same inside TLS"}},
    StoreForm{"redis", {"redis+unix:/PATH.sock", "a Redis server of this host"}},
    StoreForm{"etcd", {"etcd://[USER:PASSWORD@]HOST[:PORT][,HOST...]", "an etcd cluster, for all hosts that reach it"}},
    StoreForm{"etcd", {"etcds://...", "the same inside TLS"}},
    StoreForm{
        "zookeeper",
        {"zookeeper://[USER:PASSWORD@]HOST[:PORT],...[/CHROOT]", "a ZooKeeper ensemble, for all hosts that reach it"}},
};

/// Names with blanks between them; the build says which backends it has.
constexpr std::string_view built_backends = HOLDFAST_BACKEND_NAMES;

constexpr bool is_built(std::string_view backend) {
  for (std::string_view rest = built_backends; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(' '));
    if (name == backend) return true;
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
  }
  return false;
}

/// Backends of this build that have a form; those of one stand together.
constexpr auto backends_with_forms() {
  std::ptrdiff_t count = 0;
  std::string_view last;
  for (const StoreForm& form : store_forms) {
    if (is_built(form.backend) && form.backend != last) ++count;
    last = form.backend;
  }
  return count;
}
static_assert(std::ranges::count(built_backends, ' ') + 1 == backends_with_forms(),
              "store_forms lacks a backend that is built");

struct CodeRow {
  int code;
  std::string_view meaning;
};
constexpr std::array exit_codes = {
    CodeRow{exit_code::ok, "success; for run and elect: the command exited 0, or there was nothing to do"},
    CodeRow{exit_code::usage, "the command line is wrong"},
    CodeRow{exit_code::unavailable, "the store cannot be reached, or cannot serve"},
    CodeRow{exit_code::internal, "an internal error, or the machine ran out of resources"},
    CodeRow{exit_code::busy, "the lock could not be acquired: somebody else holds it, or the wait ran out"},
    CodeRow{exit_code::refused, "the store, or its file, refused access"},
    CodeRow{exit_code::configuration, "the URL or the configuration is wrong"},
    CodeRow{exit_code::lost, "the lock was lost while the command ran"},
    CodeRow{exit_code::cannot_execute, "the command cannot be executed"},
    CodeRow{exit_code::not_found, "the command was not found"},
};

constexpr std::array variables = {
    Row{"HOLDFAST_URL", "the store, if no --url is given"},
    Row{"HOLDFAST_PASSWORD", "the store's password, if neither --password-file nor the URL gives one"},
    Row{"NO_COLOR", "if it is set and not empty, the output has no colours; they are only ever sent to a terminal"},
};

constexpr std::array variables_of_the_command = {
    Row{"HOLDFAST_LOCK", "the lock's name"},
    Row{"HOLDFAST_TOKEN",
        "the fencing token: it rises with each holder, so a resource that remembers it can refuse older ones"},
    Row{"HOLDFAST_HOLDER", "the holder's public id, as 'holdfast show --json' prints it"},
    Row{"HOLDFAST_URL", "the store, without a password"},
};

constexpr std::array files = {
    Row{"~/.local/state/holdfast/locks.db",
        "the embedded store of a user; the home directory is that of the password database"},
    Row{"/var/lib/holdfast/locks.db", "the embedded store of root"},
};

template <std::size_t size>
void add_rows(Roff& page, const std::array<Row, size>& rows) {
  for (const Row& row : rows) page.item(bold(row.name), roff_escaped(row.meaning));
}

void add_stores(Roff& page) {
  page.section("STORES");
  page.prose(
      "The store is the one that --url names. Without that flag it is $HOLDFAST_URL, and without that variable an\n"
      "embedded store (see FILES), which is created on first use and serves one user on one host. --url and\n"
      "--password-file may also stand before the subcommand. This build supports these URLs:");
  for (const StoreForm& form : store_forms) {
    if (is_built(form.backend)) page.item(bold(form.row.name), roff_escaped(form.row.meaning));
  }
  page.section("DURATIONS");
  page.prose(
      "A number and its unit, larger units first: 500ms, 10s, 5m, 1h30m, 1.5h, 1d, 1w. A number without a unit is "
      "refused.");
}

void add_exit_status(Roff& page) {
  page.section("EXIT STATUS");
  page.prose("The exit status of the command if one was run. Otherwise, and if the lock was lost:");
  for (const CodeRow& row : exit_codes) page.item(bold(std::to_string(row.code)), roff_escaped(row.meaning));
  page.item(bold(std::to_string(exit_code::signal_base)) + " + " + italic("N"),
            "the command, or the wait for the lock, was ended by signal " + italic("N"));
}

void add_surroundings(Roff& page) {
  page.section("ENVIRONMENT");
  add_rows(page, variables);
  page.prose("The command is run with these:");
  add_rows(page, variables_of_the_command);
  page.section("FILES");
  add_rows(page, files);
}

void add_examples(Roff& page) {
  page.section("EXAMPLES");
  page.prose(
      "Run a report unless another one is still running:\n"
      "  holdfast run nightly-report --try -- ./report.sh\n"
      "Wait for at most five minutes, and say why:\n"
      "  holdfast run deploy --wait 5m --reason 'release 12' -- make deploy\n"
      "Show who holds what:\n"
      "  holdfast ls\n"
      "Print the holder of one lock, for a script:\n"
      "  holdfast show nightly-report --json | jq -r '.holders[0].host'");
  page.section("SEE ALSO");
  page.paragraph("\\fBflock\\fP(1)");
}

}  // namespace

void add_reference_sections(Roff& page) {
  add_stores(page);
  add_exit_status(page);
  add_surroundings(page);
  add_examples(page);
}

}  // namespace holdfast::cli
