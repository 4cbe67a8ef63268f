#include "backends/sqlite/backend.hpp"

#include <array>
#include <memory>
#include <utility>

#include "backends/sqlite/administration.hpp"
#include "backends/sqlite/claims.hpp"
#include "backends/sqlite/failures.hpp"
#include "backends/sqlite/registers.hpp"
#include "backends/sqlite/store_access.hpp"
#include "holdfast/error.hpp"
#include "kit/answer_soon.hpp"

namespace holdfast::sqlite {
namespace {

using spi::Done;

/// One client of one store.
class SqliteBackend final : public spi::Backend {
 public:
  SqliteBackend(std::string path, std::optional<Machine> pretended, const spi::BackendContext& context)
      : loop_(context.loop),
        access_(std::move(path), std::move(pretended), context),
        claims_(access_),
        registers_(access_),
        administration_(context.loop, access_) {}

  spi::Claims& claims() override { return claims_; }
  spi::Registers& registers() override { return registers_; }
  spi::Administration& administration() override { return administration_; }

  StoreTraits traits() const override {
    return {.store = "sqlite",
            .lease_scope = StoreTraits::LeaseScope::claim,
            .has_clock = true,
            .fifo = true,
            .durable_tokens = true,
            .shared_between_processes = true,
            .failover_may_lose = "",
            .max_value_bytes = RegisterTable::max_value_bytes};
  }

  std::vector<int> lifeline() override {
    try {
      Membership* const member = access_.member();
      return member != nullptr ? member->lifeline() : std::vector<int>();
    } catch (const Refusal& refusal) {
      throw Error(refusal.failure().code, refusal.failure().detail);
    }
  }

  void close(Done<> done) override {
    access_.close();
    kit::answer_soon(loop_, std::move(done), spi::Result<>(spi::Nothing{}));
  }

 private:
  spi::Loop& loop_;
  StoreAccess access_;
  SqliteClaims claims_;
  SqliteRegisters registers_;
  SqliteAdministration administration_;
};

std::string path_from(const base::Url& url) {
  if (!url.options.empty()) {
    throw Error(Errc::bad_url, "a sqlite: store takes no options; write sqlite:/path/to/file.db");
  }
  // sqlite:///path, as other programs write it, is the same.
  std::string path = base::decode_path(url.rest.starts_with("///") ? url.rest.substr(2) : url.rest);
  if (!path.starts_with('/') || path.starts_with("//")) {
    throw Error(Errc::bad_url,
                "a sqlite: store needs an absolute path, so that every process finds the same file; write "
                "sqlite:/path/to/file.db");
  }
  if (path.ends_with('/')) {
    throw Error(Errc::bad_url,
                "a sqlite: store needs the path of a file, not of a directory; write sqlite:/path/to/file.db");
  }
  return path;
}

}  // namespace

std::unique_ptr<spi::Backend> open(std::string path, std::optional<Machine> pretended,
                                   const spi::BackendContext& context) {
  return std::make_unique<SqliteBackend>(std::move(path), std::move(pretended), context);
}

const spi::BackendFactory& factory() {
  static constexpr std::array<std::string_view, 1> schemes = {"sqlite"};
  static constexpr auto open_url = [](const base::Url& url, const spi::BackendContext& context) {
    return open(path_from(url), std::nullopt, context);
  };
  static constexpr spi::BackendFactory factory = {.name = "sqlite", .schemes = schemes, .open = open_url};
  return factory;
}

}  // namespace holdfast::sqlite
