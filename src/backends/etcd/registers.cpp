#include "backends/etcd/registers.hpp"

#include <utility>

#include "kit/answer_soon.hpp"
#include "kit/rules.hpp"

namespace holdfast::etcd {

using base::Instant;
using spi::Done;
using spi::Operation;
using spi::Result;
using spi::Versioned;

namespace {

Versioned versioned_from(std::vector<KeyValue>& found) {
  if (found.empty()) return {};
  return {std::move(found.front().value), static_cast<std::uint64_t>(found.front().version)};
}

}  // namespace

EtcdRegisters::EtcdRegisters(spi::Loop& loop, ServerCalls& calls, const Keys& keys, Watches& watches)
    : loop_(loop),
      calls_(calls),
      keys_(keys),
      watches_of_keys_(watches),
      order_(loop),
      watches_(loop, [this](const LockName& name) { stop_watching(name); }) {}

// --- reading and writing --------------------------------------------------------------------------------------------

void EtcdRegisters::read(const LockName& name, Done<Versioned> done) { reading(name).start(std::move(done)); }

Operation<Versioned> EtcdRegisters::reading(LockName name) {
  const kit::RequestOrder::Place queued = order_.enter(name.text());
  co_await queued;
  Transaction read;
  read.then.emplace_back(Range{.key = keys_.register_of(name.text())});
  auto reply = co_await transacting(calls_, std::move(read), loop_.now() + spi::longest_patience);
  if (!reply.ok()) co_return std::move(reply.failure());
  co_return versioned_from(reply.value().outcomes[0].found);
}

void EtcdRegisters::write_if(const LockName& name, std::uint64_t expected, std::string value, Done<WriteAnswer> done) {
  if (auto failure = kit::why_too_large(value.size(), max_value_bytes)) {
    return kit::answer_soon(loop_, std::move(done), *std::move(failure));
  }
  writing(name, expected, std::move(value)).start(std::move(done));
}

Operation<EtcdRegisters::WriteAnswer> EtcdRegisters::writing(LockName name, std::uint64_t expected, std::string value) {
  const kit::RequestOrder::Place queued = order_.enter(name.text());
  co_await queued;
  auto answer = co_await writing_now(name, expected, std::move(value), loop_.now() + spi::longest_patience);
  co_return answer;
}

Operation<EtcdRegisters::WriteAnswer> EtcdRegisters::writing_now(const LockName& name, std::uint64_t expected,
                                                                 std::string value, Instant deadline) {
  const std::string key = keys_.register_of(name.text());
  Transaction write;
  write.when.push_back({.key = key, .what = Compare::What::version, .number = static_cast<std::int64_t>(expected)});
  write.then.emplace_back(Put{.key = key, .value = value});
  write.otherwise.emplace_back(Range{.key = key});
  auto reply = co_await transacting(calls_, std::move(write), deadline);
  if (!reply.ok()) co_return std::move(reply.failure());
  WriteAnswer answer;
  answer.written = reply.value().succeeded;
  answer.now =
      answer.written ? Versioned{std::move(value), expected + 1} : versioned_from(reply.value().outcomes[0].found);
  co_return answer;
}

void EtcdRegisters::add(const LockName& name, std::int64_t amount, Done<std::int64_t> done) {
  adding(name, amount).start(std::move(done));
}

/// etcd cannot add, so the register is read, and written if nobody else has written it meanwhile.
Operation<std::int64_t> EtcdRegisters::adding(LockName name, std::int64_t amount) {
  const kit::RequestOrder::Place queued = order_.enter(name.text());
  co_await queued;
  const Instant deadline = loop_.now() + spi::longest_patience;
  Transaction read;
  read.then.emplace_back(Range{.key = keys_.register_of(name.text())});
  auto reply = co_await transacting(calls_, std::move(read), deadline);
  if (!reply.ok()) co_return std::move(reply.failure());
  Versioned now = versioned_from(reply.value().outcomes[0].found);
  for (;;) {
    auto sum = kit::sum_of(now, amount);
    if (!sum.ok()) co_return std::move(sum.failure());
    auto written = co_await writing_now(name, now.version, std::to_string(sum.value()), deadline);
    if (!written.ok()) co_return std::move(written.failure());
    if (written.value().written) co_return sum.value();
    now = std::move(written.value().now);
  }
}

// --- watching -------------------------------------------------------------------------------------------------------

void EtcdRegisters::watch(const LockName& name, std::uint64_t seen, Done<> done) {
  if (closed_) return kit::answer_soon(loop_, std::move(done), is_closed());
  watches_.add(name, std::move(done));
  const auto [at, is_new] = watched_.try_emplace(name);
  Watched& watched = at->second;
  watched.told = false;
  if (watched.begun) return compare(name, seen);
  // When the watch begins, the register is compared with these versions, so no change is missed before it.
  watched.unsure.insert(seen);
  if (!is_new) return;
  watched.watch = watches_of_keys_.watch(keys_.register_of(name.text()), {},
                                         [this, name](Watches::What what, const WatchReply&) { happened(name, what); });
}

void EtcdRegisters::happened(const LockName& name, Watches::What what) {
  const auto found = watched_.find(name);
  if (found == watched_.end()) return;
  if (what == Watches::What::begun && !std::exchange(found->second.begun, true)) {
    for (const std::uint64_t seen : std::exchange(found->second.unsure, {})) compare(name, seen);
    return;
  }
  // It has changed; or the watch had to begin again, and a change may have been missed.
  if (std::exchange(found->second.told, true)) return stop_watching(name);
  watches_.changed(name);
}

void EtcdRegisters::compare(const LockName& name, std::uint64_t seen) {
  read(name, [this, name, seen](const Result<Versioned>& now) {
    if (!closed_ && now.ok() && now.value().version != seen) watches_.changed(name);
  });
}

void EtcdRegisters::stop_watching(const LockName& name) {
  auto node = watched_.extract(name);
  if (!node.empty()) watches_of_keys_.unwatch(node.mapped().watch);
}

void EtcdRegisters::close() {
  closed_ = true;
  order_.close();
  watches_.close(is_closed());
}

}  // namespace holdfast::etcd
