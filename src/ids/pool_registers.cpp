#include "ids/pool_registers.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace holdfast::ids {
namespace {

LockName name_of(const LockName& pool) {
  constexpr std::size_t most = LockName::max_bytes - 32;  // for "id/" and the number
  if (pool.text().size() > most) {
    throw Error(Errc::invalid_argument, "the name of a pool of worker numbers must be at most " + std::to_string(most) +
                                            " bytes, got " + std::to_string(pool.text().size()) + " bytes");
  }
  return "id/" + pool.text();
}

/// The replies to one Look, and who is told when the last of them has come.
class Gathering {
 public:
  Gathering(std::size_t numbers, MoveOnlyFunction<void(WorkerLease::Looked)> done) : done_(std::move(done)) {
    looked_.numbers.resize(numbers);
  }
  WorkerLease::Looked& looked() { return looked_; }
  void expect_one() { ++missing_; }
  void one_came() {
    if (--missing_ == 0) done_(std::move(looked_));
  }

 private:
  WorkerLease::Looked looked_ = {};
  MoveOnlyFunction<void(WorkerLease::Looked)> done_;
  std::atomic<std::size_t> missing_ = 1;  // whoever asks
};

Errc errc_of(std::error_code code) { return code ? static_cast<Errc>(code.value()) : Errc{}; }

/// Begins a call that tells `gathering` of the outcome in any case.
template <class T, class Begin>
void ask(const std::shared_ptr<Gathering>& gathering, Reply<T>& reply, Begin begin) {
  gathering->expect_one();
  try {
    begin([gathering, &reply](std::error_code code, T value) {
      reply = {.value = std::move(value), .code = errc_of(code), .detail = {}};
      gathering->one_came();
    });
  } catch (const Error& error) {
    reply.code = error.errc();
    reply.detail = error.what();
    gathering->one_came();
  }
}

}  // namespace

PoolRegisters::PoolRegisters(Client& client, const LockName& pool) : pool_(client, name_of(pool)), clock_(client) {}

Register PoolRegisters::register_of(std::optional<std::uint32_t> number) const {
  return {pool_, number ? LockName(pool_.name().text() + '/' + std::to_string(*number)) : pool_.name()};
}

void PoolRegisters::look(const WorkerLease::Look& what, MoveOnlyFunction<void(WorkerLease::Looked)> done) {
  const auto gathering = std::make_shared<Gathering>(what.numbers.size(), std::move(done));
  WorkerLease::Looked& looked = gathering->looked();
  if (what.pool) {
    ask(gathering, looked.pool, [&](AsyncCallback<Versioned> heard) { pool_.async_get(std::move(heard)); });
  }
  if (what.clock) {
    ask(gathering, looked.clock,
        [&](AsyncCallback<std::optional<StoreTime>> heard) { clock_.async_now(std::move(heard)); });
  }
  for (std::size_t i = 0; i < what.numbers.size(); ++i) {
    ask(gathering, looked.numbers[i], [&](AsyncCallback<Versioned> heard) {
      Register number = register_of(what.numbers[i]);
      number.async_get(std::move(heard));
    });
  }
  gathering->one_came();
}

void PoolRegisters::write(const WorkerLease::Write& what, MoveOnlyFunction<void(Reply<Written>)> done) {
  const auto told = std::make_shared<MoveOnlyFunction<void(Reply<Written>)>>(std::move(done));
  try {
    Register target = register_of(what.number);
    target.async_compare_and_set(what.expected, what.value, [told](std::error_code code, Written written) {
      (*told)({.value = std::move(written), .code = errc_of(code), .detail = {}});
    });
  } catch (const Error& error) {
    (*told)({.value = {}, .code = error.errc(), .detail = error.what()});
  }
}

}  // namespace holdfast::ids
