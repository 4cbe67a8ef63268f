#include "backends/sqlite/registers.hpp"

#include <utility>
#include <vector>

namespace holdfast::sqlite {

using spi::Done;
using spi::Nothing;
using spi::Operation;
using spi::Result;
using spi::Versioned;

void SqliteRegisters::read(const LockName& name, Done<Versioned> done) {
  auto work = [text = name.text()](Step& step) { return Result(step.store.registers().read(text)); };
  access_.answering(Access::read, std::move(work)).start(std::move(done));
}

void SqliteRegisters::write_if(const LockName& name, std::uint64_t expected, std::string value,
                               Done<WriteAnswer> done) {
  auto write = [text = name.text(), expected, value = std::move(value)](RegisterTable& table,
                                                                        std::vector<Notice>& notices) {
    return table.write_if(text, expected, value, notices);
  };
  access_.writing_durably(std::move(write)).start(std::move(done));
}

void SqliteRegisters::add(const LockName& name, std::int64_t amount, Done<std::int64_t> done) {
  auto write = [text = name.text(), amount](RegisterTable& table, std::vector<Notice>& notices) {
    return table.add(text, amount, notices);
  };
  access_.writing_durably(std::move(write)).start(std::move(done));
}

void SqliteRegisters::watch(const LockName& name, std::uint64_t seen, Done<> done) {
  watching(name, seen).start(std::move(done));
}

Operation<Nothing> SqliteRegisters::watching(LockName name, std::uint64_t seen) {
  auto changed = co_await access_.transact(Access::write, spi::longest_patience, [&](Step& step) {
    const ClientNumber self = access_.member()->enroll(step.store, nullptr);
    return Result(step.store.registers().watch(self, name.text(), seen));
  });
  if (!changed.ok()) co_return std::move(changed.failure());
  if (changed.value()) co_return Nothing{};
  if (access_.closed()) co_return StoreAccess::why_closed();
  auto answer = co_await spi::answer_of<Nothing>([&](Done<> done) { access_.watches().add(name, std::move(done)); });
  co_return answer;
}

}  // namespace holdfast::sqlite
