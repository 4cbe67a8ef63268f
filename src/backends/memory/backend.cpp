#include "backends/memory/backend.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "backends/memory/mailbox.hpp"
#include "backends/memory/shared_store.hpp"
#include "holdfast/error.hpp"
#include "kit/answer_soon.hpp"
#include "kit/register_watches.hpp"

namespace holdfast::memory {
namespace {

using base::Instant;
using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::ClaimRequest;
using spi::Done;
using spi::Failure;
using spi::Result;
using spi::Versioned;
using std::chrono::system_clock;

/// One client of a SharedStore. Every operation is done at once; its answer comes through the loop.
class MemoryBackend final : public spi::Backend,
                            private spi::Claims,
                            private spi::Registers,
                            private spi::Administration {
 public:
  MemoryBackend(std::shared_ptr<SharedStore> store, const spi::BackendContext& context)
      : loop_(context.loop),
        store_(std::move(store)),
        mailbox_(std::make_shared<Mailbox>(context.loop, context.events,
                                           [this](const LockName& name) { watches_.changed(name); })),
        client_(store_->subscribe(mailbox_)),
        watches_(context.loop, [this](const LockName& name) { unwatch(name); }) {}

  ~MemoryBackend() override { leave(); }

  spi::Claims& claims() override { return *this; }
  spi::Registers& registers() override { return *this; }
  spi::Administration& administration() override { return *this; }

  StoreTraits traits() const override {
    return {.store = "memory",
            .lease_scope = StoreTraits::LeaseScope::claim,
            .has_clock = true,
            .fifo = true,
            .durable_tokens = false,
            .shared_between_processes = false,
            .failover_may_lose = "",
            .max_value_bytes = RegisterTable::max_value_bytes};
  }

  void close(Done<> done) override {
    leave();
    answer(std::move(done), Result<>(spi::Nothing{}));
  }

 private:
  void acquire(const ClaimRequest& request, Done<ClaimAnswer> done) override {
    const Instant now = loop_.now();
    run(std::move(done), [&](StoreModel& store) {
      auto answer = store.acquire(request, client_, now);
      if (answer.ok()) prove(answer.value(), now);
      return answer;
    });
  }

  void release(const ClaimRef& claim, Done<bool> done) override {
    const Instant now = loop_.now();
    run(std::move(done), [&](StoreModel& store) { return Result(store.release(claim, now)); });
  }

  void renew(std::span<const ClaimRef> claims, Done<std::vector<ClaimAnswer>> done) override {
    const Instant now = loop_.now();
    run(std::move(done), [&](StoreModel& store) {
      std::vector<ClaimAnswer> answers;
      answers.reserve(claims.size());
      for (const ClaimRef& claim : claims) prove(answers.emplace_back(store.renew(claim, now)), now);
      return Result(std::move(answers));
    });
  }

  void downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) override {
    const Instant now = loop_.now();
    run(std::move(done), [&](StoreModel& store) { return store.downgrade(claim, now); });
  }

  void read(const LockName& name, Done<Versioned> done) override {
    run(std::move(done), [&](StoreModel& store) { return Result(store.registers().read(name)); });
  }

  void write_if(const LockName& name, std::uint64_t expected, std::string value, Done<WriteAnswer> done) override {
    run(std::move(done),
        [&](StoreModel& store) { return store.registers().write_if(name, expected, std::move(value)); });
  }

  void add(const LockName& name, std::int64_t amount, Done<std::int64_t> done) override {
    run(std::move(done), [&](StoreModel& store) { return store.registers().add(name, amount); });
  }

  void watch(const LockName& name, std::uint64_t seen, Done<> done) override {
    if (!store_) return answer(std::move(done), Result<>(closed()));
    const bool changed =
        store_->apply(client_, [&](StoreModel& store) { return store.registers().watch(client_, name, seen); });
    if (changed) return answer(std::move(done), Result<>(spi::Nothing{}));
    watches_.add(name, std::move(done));
  }

  void show(const LockName& name, LockKind kind, Done<std::optional<LockStatus>> done) override {
    const Instant now = loop_.now();
    run(std::move(done), [&](StoreModel& store) { return Result(store.show(name, kind, now, system_clock::now())); });
  }

  void list(std::string_view prefix, Done<std::vector<LockStatus>> done) override {
    const Instant now = loop_.now();
    run(std::move(done), [&](StoreModel& store) { return Result(store.list(prefix, now, system_clock::now())); });
  }

  void evict(const LockName& name, LockKind kind, std::uint64_t up_to, Done<std::size_t> done) override {
    const Instant now = loop_.now();
    run(std::move(done), [&](StoreModel& store) { return Result(store.evict(name, kind, up_to, now)); });
  }

  void ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                      Done<std::size_t> done) override {
    const Instant now = loop_.now();
    run(std::move(done), [&](StoreModel& store) { return Result(store.ask_to_release(name, kind, request, now)); });
  }

  void resize(const LockName& name, std::uint32_t total, Done<bool> done) override {
    const Instant now = loop_.now();
    run(std::move(done), [&](StoreModel& store) { return store.resize(name, total, now); });
  }

  void now(Done<system_clock::time_point> done) override { answer(std::move(done), Result(system_clock::now())); }

  /// `operation` returns the Result for `done`.
  template <class T, class Operation>
  void run(Done<T> done, Operation operation) {
    answer(std::move(done), store_ ? store_->apply(client_, std::move(operation)) : Result<T>(closed()));
  }

  template <class T>
  void answer(Done<T> done, Result<T> result) {
    kit::answer_soon(loop_, std::move(done), std::move(result));
  }

  static void prove(ClaimAnswer& answer, Instant sent) {
    if (answer.standing != ClaimAnswer::Standing::absent) answer.armed_at = sent;
  }

  static Failure closed() { return {Errc::closed, "the client's memory: store is closed"}; }

  void unwatch(const LockName& name) {
    store_->apply(client_, [&](StoreModel& store) {
      store.registers().unwatch(client_, name);
      return spi::Nothing{};
    });
  }

  void leave() {
    if (!store_) return;
    watches_.close(closed());
    store_->unsubscribe(client_);  // ends its watches in the store, too
    mailbox_->close();
    store_.reset();
  }

  spi::Loop& loop_;
  std::shared_ptr<SharedStore> store_;  ///< null once closed
  const std::shared_ptr<Mailbox> mailbox_;
  const ClientNumber client_;
  kit::RegisterWatches watches_;
};

std::unique_ptr<spi::Backend> open(const base::Url& url, const spi::BackendContext& context) {
  if (!url.options.empty()) {
    throw Error(Errc::bad_url, "a memory: store takes no options; write memory: or memory:name");
  }
  if (url.rest.starts_with('/')) {
    throw Error(
        Errc::bad_url,
        "a memory: store has a name, not a host or a path; write memory: or memory:name, without slashes in front");
  }
  return std::make_unique<MemoryBackend>(SharedStore::open(url.rest), context);
}

}  // namespace

const spi::BackendFactory& factory() {
  static constexpr std::array<std::string_view, 1> schemes = {"memory"};
  static constexpr spi::BackendFactory factory = {.name = "memory", .schemes = schemes, .open = &open};
  return factory;
}

}  // namespace holdfast::memory
