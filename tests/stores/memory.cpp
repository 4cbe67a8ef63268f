// `memory:` lives and dies with its process: nobody else can reach it, and there is no server to stop.

#include "stores/fixture.hpp"

namespace holdfast::test {
namespace {

class MemoryFixture : public Fixture {
 public:
  std::string url() const override { return url_; }

 private:
  std::string url_ = "memory:" + new_prefix();
};

const RegisterFixture registered({
    .name = "memory",
    .capabilities = {.fifo = true},
    .make = make_fixture<MemoryFixture>,
});

}  // namespace
}  // namespace holdfast::test
