#include "backends/zookeeper/registers.hpp"

#include <cstdint>
#include <limits>
#include <utility>

#include "backends/zookeeper/failures.hpp"
#include "kit/answer_soon.hpp"
#include "kit/rules.hpp"

namespace holdfast::zookeeper {

using spi::Done;
using spi::Failure;
using spi::Nothing;
using spi::Operation;
using spi::Versioned;

namespace {

std::uint64_t version_of(const NodeStat& stat) { return static_cast<std::uint32_t>(stat.version) + std::uint64_t{1}; }

/// The largest version that a write can ask for. In 32 bits the next one is -1, which the servers take for any version.
constexpr std::uint64_t newest_version = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void NodeRegisters::read(const LockName& name, Done<Versioned> done) {
  calls_.start(spi::longest_patience, std::move(done),
               [&](CallPtr call) { return reading(std::move(call), sessions_.nodes().register_of(name.text())); });
}

void NodeRegisters::write_if(const LockName& name, std::uint64_t expected, std::string value, Done<WriteAnswer> done) {
  if (auto failure = kit::why_too_large(value.size(), max_value_bytes)) {
    return kit::answer_soon(loop_, std::move(done), *std::move(failure));
  }
  calls_.start(spi::longest_patience, std::move(done), [&](CallPtr call) {
    return writing(std::move(call), sessions_.nodes().register_of(name.text()), expected, std::move(value));
  });
}

void NodeRegisters::add(const LockName& name, std::int64_t amount, Done<std::int64_t> done) {
  calls_.start(spi::longest_patience, std::move(done), [&](CallPtr call) {
    return adding(std::move(call), sessions_.nodes().register_of(name.text()), amount);
  });
}

Operation<Versioned> NodeRegisters::reading(CallPtr call, std::string path) {
  const SessionPtr session = sessions_.any();
  const auto up = co_await until_up(session, call);
  if (!up.ok()) co_return up.failure();
  auto now = co_await fetching(session, path);
  co_return now;
}

Operation<spi::Registers::WriteAnswer> NodeRegisters::writing(CallPtr call, std::string path, std::uint64_t expected,
                                                              std::string value) {
  const SessionPtr session = sessions_.any();
  const auto up = co_await until_up(session, call);
  if (!up.ok()) co_return up.failure();
  call->is_in_doubt();
  auto written = co_await putting(session, path, expected, std::move(value));
  co_return written;
}

Operation<std::int64_t> NodeRegisters::adding(CallPtr call, std::string path, std::int64_t amount) {
  const SessionPtr session = sessions_.any();
  const auto up = co_await until_up(session, call);
  if (!up.ok()) co_return up.failure();
  while (!call->over()) {
    auto now = co_await fetching(session, path);
    if (call->over()) break;
    if (!now.ok()) co_return std::move(now.failure());
    auto sum = kit::sum_of(now.value(), amount);
    if (!sum.ok()) co_return sum;
    call->is_in_doubt();
    std::string value = std::to_string(sum.value());
    auto written = co_await putting(session, path, now.value().version, std::move(value));
    if (!written.ok()) co_return std::move(written.failure());
    if (written.value().written) co_return sum;
  }
  co_return nobody_waits();
}

/// Reads the newest value, whoever has written it.
Operation<Versioned> NodeRegisters::fetching(SessionPtr session, const std::string& path) {
  static_cast<void>(session->sync(path));
  const base::Future<Reply> getting = session->get(path);
  Reply& reply = co_await getting;
  if (reply.outcome == Outcome::no_node) co_return Versioned{};
  if (!reply.ok()) co_return explain(reply, sessions_.address(), false);
  Versioned now;
  now.version = version_of(reply.stat);
  now.value = std::move(reply.text);
  co_return now;
}

Operation<spi::Registers::WriteAnswer> NodeRegisters::putting(SessionPtr session, const std::string& path,
                                                              std::uint64_t expected, std::string value) {
  if (expected > newest_version) {
    auto now = co_await fetching(session, path);
    if (!now.ok()) co_return std::move(now.failure());
    co_return WriteAnswer{.written = false, .now = std::move(now.value())};
  }
  for (int attempt = 0; attempt < 2; ++attempt) {
    const base::Future<Reply> setting = expected == 0
                                            ? session->create(path, value, Session::Lasting::persistent)
                                            : session->set(path, value, static_cast<std::int32_t>(expected - 1));
    const Reply& written = co_await setting;
    if (written.ok()) {
      WriteAnswer answer;
      answer.written = true;
      answer.now.version = expected == 0 ? 1 : version_of(written.stat);
      answer.now.value = std::move(value);
      co_return answer;
    }
    if (written.outcome == Outcome::no_node && expected == 0) {
      const Reply made =
          co_await sessions_.make_path(session, sessions_.nodes().registers(), Session::Lasting::persistent);
      if (made.outcome == Outcome::no_node) co_return no_chroot(sessions_.address());
      if (!made.ok()) co_return explain(made, sessions_.address(), false);
      continue;
    }
    const bool in_the_way = written.outcome == Outcome::node_exists || written.outcome == Outcome::other_version ||
                            written.outcome == Outcome::no_node;
    if (!in_the_way) co_return explain(written, sessions_.address(), true);
    break;
  }
  auto now = co_await fetching(session, path);
  if (!now.ok()) co_return std::move(now.failure());
  WriteAnswer answer;
  answer.now = std::move(now.value());
  co_return answer;
}

// --- watching -------------------------------------------------------------------------------------------------------

void NodeRegisters::watch(const LockName& name, std::uint64_t seen, Done<> done) {
  if (closed_) return kit::answer_soon(loop_, std::move(done), Failure{Errc::closed, "the client is closed"});
  watches_.add(name, std::move(done));
  watching(name, seen).start();
}

Operation<Nothing> NodeRegisters::watching(LockName name, std::uint64_t seen) {
  const SessionPtr session = sessions_.any();
  if (!session->is_up()) co_await session->change();
  if (closed_ || !session->is_up()) co_return Nothing{};
  const std::string path = sessions_.nodes().register_of(name.text());
  watched_.insert_or_assign(path, name);
  const base::Future<Reply> looking = session->exists(path, Session::Watching::yes);
  const Reply& reply = co_await looking;
  const bool heard = reply.ok() || reply.outcome == Outcome::no_node;
  const std::uint64_t now = reply.ok() ? version_of(reply.stat) : 0;
  if (heard && now != seen && !closed_) watches_.changed(name);
  co_return Nothing{};
}

void NodeRegisters::node_changed(const std::string& path) {
  const auto found = watched_.find(path);
  if (found == watched_.end() || closed_) return;
  const LockName name = std::move(found->second);
  watched_.erase(found);
  watches_.changed(name);
}

void NodeRegisters::close() {
  closed_ = true;
  watches_.close({Errc::closed, "the client is closed"});
}

}  // namespace holdfast::zookeeper
