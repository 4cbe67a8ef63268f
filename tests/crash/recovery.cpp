#include "crash/recovery.hpp"

#include <algorithm>
#include <utility>

#include "crash/bare_sqlite.hpp"
#include "crash/workload.hpp"

namespace holdfast::crash {
namespace {

std::string text(const spi::Versioned& value) {
  return "'" + value.value.substr(0, 20) + "', version " + std::to_string(value.version);
}

bool is_kept(const Promises::Register& promised, const spi::Versioned& found) {
  const auto is_found = [&](const spi::Versioned& value) {
    return value.version == found.version && value.value == found.value;
  };
  return is_found(promised.least) || std::any_of(promised.possible.begin(), promised.possible.end(), is_found);
}

void note(const Use& use, Findings& findings, int& count, const std::string& what) {
  ++count;
  if (findings.first.empty()) findings.first = use.where + ": " + what;
}

/// One use of the store.
struct Recovery {
  const Promises& promises;
  const Use& use;
  Findings& findings;

  void use_registers(StoreClient& client) const {
    for (const char* name : register_names) {
      const auto known = promises.registers.find(name);
      const Promises::Register promised = known != promises.registers.end() ? known->second : Promises::Register();
      const spi::Versioned found = client.read(name);
      if (!is_kept(promised, found)) {
        note(use, findings, findings.lost_registers,
             std::string("register ") + name + " is " + text(found) + " after " + text(promised.least));
        continue;
      }
      if (use.ledger == nullptr) continue;
      use.ledger->asks(name, found);  // what was read must not go back either
      use.ledger->acknowledged();
      if (use.writes_registers) write_register(client, *use.ledger, name, found);
    }
  }

  void use_locks(StoreClient& client) const {
    std::uint64_t largest = promises.largest_number;
    for (const char* name : lock_names) {
      const spi::ClaimAnswer answer = client.acquire(name, 1);
      if (answer.standing != spi::ClaimAnswer::Standing::granted) {
        note(use, findings, findings.failures, std::string("lock ") + name + " is not free");
        continue;
      }
      if (answer.number <= largest) {
        note(use, findings, findings.old_numbers,
             "grant " + std::to_string(answer.number) + " came after grant " + std::to_string(largest));
      }
      largest = std::max(largest, answer.number);
      if (use.ledger != nullptr) use.ledger->granted(answer.number);
      client.release(name, 1);
    }
  }
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Findings& findings) {
  out << findings.images << " images: " << findings.failures << " unusable, " << findings.damaged << " damaged, "
      << findings.lost_registers << " registers lost, " << findings.old_numbers << " numbers not larger";
  if (!findings.first.empty()) out << "; first: " << findings.first;
  return out;
}

void recover(const std::filesystem::path& database, const sqlite::Machine& machine, const Promises& promises,
             const Use& use, Findings& findings) {
  const Recovery recovery{promises, use, findings};
  ++findings.images;
  try {
    StoreClient client(database, machine);
    recovery.use_registers(client);
    recovery.use_locks(client);
  } catch (const Error& error) {
    note(use, findings, findings.failures, error.what());
  }
}

void check_integrity(const std::filesystem::path& database, const Use& use, Findings& findings) {
  const std::string integrity = integrity_of(database);
  if (integrity != "ok") note(use, findings, findings.damaged, integrity);
}

}  // namespace holdfast::crash
