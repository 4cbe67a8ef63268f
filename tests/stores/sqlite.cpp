// `sqlite:` has no server: the file is the store, and it is there as long as its directory is.

#include "stores/fixture.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::test {
namespace {

class SqliteFixture : public Fixture {
 public:
  std::string url() const override { return "sqlite:" + (directory_.path() / "locks.db").string(); }

 private:
  const TemporaryDirectory directory_{memory_directory()};
};

const RegisterFixture registered({
    .name = "sqlite",
    .capabilities = {.separate_processes = true, .fifo = true, .keeps_tokens = true, .notices_deaths = true},
    .make = make_fixture<SqliteFixture>,
});

}  // namespace
}  // namespace holdfast::test
