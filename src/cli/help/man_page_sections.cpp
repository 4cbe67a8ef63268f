// The parts of the manual page that no subcommand owns.
#include <array>
#include <span>

#include "cli/exit_code.hpp"
#include "cli/help/man_page.hpp"
#include "cli/help/roff.hpp"

namespace holdfast::cli {
namespace {

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
    ManPageRow{"HOLDFAST_URL", "the store, if no --url is given"},
    ManPageRow{"HOLDFAST_PASSWORD", "the store's password, if neither --password-file nor the URL gives one"},
    ManPageRow{"NO_COLOR",
               "if it is set and not empty, the output has no colours; they are only ever sent to a terminal"},
};

constexpr std::array variables_of_the_command = {
    ManPageRow{"HOLDFAST_LOCK", "the lock's name"},
    ManPageRow{"HOLDFAST_TOKEN",
               "the fencing token: it rises with each holder, so a resource that remembers it can refuse older ones"},
    ManPageRow{"HOLDFAST_HOLDER", "the holder's public id, as 'holdfast show --json' prints it"},
    ManPageRow{"HOLDFAST_URL", "the store, without a password"},
};

constexpr std::array files = {
    ManPageRow{"~/.local/state/holdfast/locks.db",
               "the embedded store of a user; the home directory is that of the password database"},
    ManPageRow{"/var/lib/holdfast/locks.db", "the embedded store of root"},
};

void add_rows(Roff& page, std::span<const ManPageRow> rows) {
  for (const ManPageRow& row : rows) page.item(bold(row.name), roff_escaped(row.meaning));
}

void add_stores(Roff& page) {
  page.section("STORES");
  page.prose(
      "The store is the one that --url names. Without that flag it is $HOLDFAST_URL, and without that variable an\n"
      "embedded store (see FILES), which is created on first use and serves one user on one host. --url and\n"
      "--password-file may also stand before the subcommand. This build supports these URLs:");
  add_rows(page, store_urls());
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
