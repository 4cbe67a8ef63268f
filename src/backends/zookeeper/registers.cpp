#include "backends/zookeeper/registers.hpp"

#include <utility>

#include "backends/zookeeper/failures.hpp"
#include "backends/zookeeper/ready.hpp"
#include "kit/answer_soon.hpp"
#include "kit/rules.hpp"

namespace holdfast::zookeeper {

using spi::Done;
using spi::Failure;
using spi::Result;
using spi::Versioned;

namespace {

std::uint64_t version_of(const NodeStat& stat) { return static_cast<std::uint32_t>(stat.version) + std::uint64_t{1}; }

}  // namespace

void NodeRegisters::read(const LockName& name, Done<Versioned> done) {
  run_read(make_call(calls_, spi::longest_patience, std::move(done)), sessions_.nodes().register_of(name.text()));
}

void NodeRegisters::write_if(const LockName& name, std::uint64_t expected, std::string value, Done<WriteAnswer> done) {
  if (auto failure = kit::why_too_large(value.size(), max_value_bytes)) {
    return kit::answer_soon(loop_, std::move(done), *std::move(failure));
  }
  run_write(make_call(calls_, spi::longest_patience, std::move(done)), sessions_.nodes().register_of(name.text()),
            expected, std::move(value));
}

void NodeRegisters::add(const LockName& name, std::int64_t amount, Done<std::int64_t> done) {
  run_add(make_call(calls_, spi::longest_patience, std::move(done)), sessions_.nodes().register_of(name.text()),
          amount);
}

Detached NodeRegisters::run_read(CallPtr<Versioned> call, std::string path) {
  const SessionPtr session = sessions_.any();
  const Flow<bool> preparing = is_ready(session, call);
  const bool ready = co_await preparing;
  if (!ready) co_return;
  const Flow<Result<Versioned>> fetching = fetch(session, std::move(path));
  Result<Versioned> fetched = co_await fetching;
  call->answer(std::move(fetched));
}

Detached NodeRegisters::run_write(CallPtr<WriteAnswer> call, std::string path, std::uint64_t expected,
                                  std::string value) {
  const SessionPtr session = sessions_.any();
  const Flow<bool> preparing = is_ready(session, call);
  const bool ready = co_await preparing;
  if (!ready) co_return;
  call->is_in_doubt();
  const Flow<Result<WriteAnswer>> putting = put(session, std::move(path), expected, std::move(value));
  Result<WriteAnswer> answer = co_await putting;
  call->answer(std::move(answer));
}

Detached NodeRegisters::run_add(CallPtr<std::int64_t> call, std::string path, std::int64_t amount) {
  const SessionPtr session = sessions_.any();
  const Flow<bool> preparing = is_ready(session, call);
  const bool ready = co_await preparing;
  if (!ready) co_return;
  while (!call->over()) {
    const Flow<Result<Versioned>> fetching = fetch(session, path);
    Result<Versioned> now = co_await fetching;
    if (call->over()) co_return;
    if (!now.ok()) {
      call->answer(now.failure());
      co_return;
    }
    Result<std::int64_t> sum = kit::sum_of(now.value(), amount);
    if (!sum.ok()) {
      call->answer(std::move(sum));
      co_return;
    }
    call->is_in_doubt();
    std::string value = std::to_string(sum.value());
    const Flow<Result<WriteAnswer>> putting = put(session, path, now.value().version, std::move(value));
    Result<WriteAnswer> written = co_await putting;
    if (!written.ok()) {
      call->answer(written.failure());
    } else if (written.value().written) {
      call->answer(sum.value());
    }
  }
}

/// As new as anybody's.
Flow<Result<Versioned>> NodeRegisters::fetch(SessionPtr session, std::string path) {
  const Sent syncing = session->sync(path);
  const Sent getting = session->get(path);
  co_await syncing;
  Reply& reply = co_await getting;
  if (reply.outcome == Outcome::no_node) co_return Versioned{};
  if (!reply.ok()) co_return explain(reply, sessions_.address(), false);
  Versioned now;
  now.version = version_of(reply.stat);
  now.value = std::move(reply.text);
  co_return now;
}

Flow<Result<spi::Registers::WriteAnswer>> NodeRegisters::put(SessionPtr session, std::string path,
                                                             std::uint64_t expected, std::string value) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Sent writing = expected == 0 ? session->create(path, value, Session::Lasting::persistent)
                                       : session->set(path, value, static_cast<std::int32_t>(expected - 1));
    const Reply& written = co_await writing;
    if (written.ok()) {
      WriteAnswer answer;
      answer.written = true;
      answer.now.version = expected == 0 ? 1 : version_of(written.stat);
      answer.now.value = std::move(value);
      co_return answer;
    }
    if (written.outcome == Outcome::no_node && expected == 0) {
      const Flow<Reply> making =
          sessions_.make_path(session, sessions_.nodes().registers(), Session::Lasting::persistent);
      const Reply made = co_await making;
      if (made.outcome == Outcome::no_node) co_return no_chroot(sessions_.address());
      if (!made.ok()) co_return explain(made, sessions_.address(), false);
      continue;
    }
    const bool in_the_way = written.outcome == Outcome::node_exists || written.outcome == Outcome::other_version ||
                            written.outcome == Outcome::no_node;
    if (!in_the_way) co_return explain(written, sessions_.address(), true);
    break;
  }
  const Flow<Result<Versioned>> fetching = fetch(session, path);
  Result<Versioned> now = co_await fetching;
  if (!now.ok()) co_return now.failure();
  WriteAnswer answer;
  answer.now = std::move(now.value());
  co_return answer;
}

// --- watching -------------------------------------------------------------------------------------------------------

void NodeRegisters::watch(const LockName& name, std::uint64_t seen, Done<> done) {
  if (closed_) return kit::answer_soon(loop_, std::move(done), Failure{Errc::closed, "the client is closed"});
  watches_.add(name, std::move(done));
  run_watch(name, seen);
}

Detached NodeRegisters::run_watch(LockName name, std::uint64_t seen) {
  const SessionPtr session = sessions_.any();
  if (!session->is_up()) co_await session->change();
  if (closed_ || !session->is_up()) co_return;
  const std::string path = sessions_.nodes().register_of(name.text());
  watched_.insert_or_assign(path, name);
  const Sent asking = session->exists(path, Session::Watching::yes);
  const Reply& reply = co_await asking;
  const bool heard = reply.ok() || reply.outcome == Outcome::no_node;
  const std::uint64_t now = reply.ok() ? version_of(reply.stat) : 0;
  if (heard && now != seen && !closed_) watches_.changed(name);
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
