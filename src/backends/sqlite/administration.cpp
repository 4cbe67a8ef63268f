#include "backends/sqlite/administration.hpp"

#include <string>
#include <utility>

#include "kit/answer_soon.hpp"
#include "kit/rules.hpp"

namespace holdfast::sqlite {

using spi::Done;
using spi::Result;
using std::chrono::system_clock;

void SqliteAdministration::show(const LockName& name, LockKind kind, Done<std::optional<LockStatus>> done) {
  auto work = [text = name.text(), kind](Step& step) { return Result(step.store.show(text, kind)); };
  access_.answering(Access::read, std::move(work)).start(std::move(done));
}

void SqliteAdministration::list(std::string_view prefix, Done<std::vector<LockStatus>> done) {
  auto work = [text = std::string(prefix)](Step& step) { return Result(step.store.list(text)); };
  access_.answering(Access::read, std::move(work)).start(std::move(done));
}

void SqliteAdministration::evict(const LockName& name, LockKind kind, std::uint64_t up_to, Done<std::size_t> done) {
  auto work = [text = name.text(), kind, up_to](Step& step) { return Result(step.store.evict(text, kind, up_to)); };
  access_.answering(Access::write, std::move(work)).start(std::move(done));
}

void SqliteAdministration::ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                                          Done<std::size_t> done) {
  auto work = [text = name.text(), kind, request](Step& step) {
    return Result(step.store.ask_to_release(text, kind, request));
  };
  access_.answering(Access::write, std::move(work)).start(std::move(done));
}

void SqliteAdministration::resize(const LockName& name, std::uint32_t total, Done<bool> done) {
  if (auto failure = kit::why_invalid_total(name, total)) {
    return kit::answer_soon(loop_, std::move(done), *std::move(failure));
  }
  auto work = [text = name.text(), total](Step& step) { return Result(step.store.resize(text, total)); };
  access_.answering(Access::write, std::move(work)).start(std::move(done));
}

void SqliteAdministration::now(Done<system_clock::time_point> done) {
  kit::answer_soon(loop_, std::move(done), Result(system_clock::now()));
}

}  // namespace holdfast::sqlite
