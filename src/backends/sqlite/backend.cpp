#include "backends/sqlite/backend.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "backends/sqlite/durable_queue.hpp"
#include "backends/sqlite/failures.hpp"
#include "backends/sqlite/membership.hpp"
#include "backends/sqlite/transactions.hpp"
#include "holdfast/error.hpp"
#include "kit/register_watches.hpp"
#include "kit/rules.hpp"

// Claims are executed at once, under the monitor, in transactions of some microseconds (transactions.hpp). What waits
// for the disk, registers and the reservation of numbers, goes to a thread that may block (durable_queue.hpp). A client
// enrolls with its first claim: it takes a number, a lifeline by which others know that it lives, and a door at which
// they tell it things.

namespace holdfast::sqlite {
namespace {

using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::ClaimRequest;
using spi::Done;
using spi::Failure;
using spi::Result;
using spi::Versioned;
using std::chrono::system_clock;

class SqliteBackend final : public spi::Backend,
                            private spi::Claims,
                            private spi::Registers,
                            private spi::Administration,
                            private Transactions::Owner {
 public:
  SqliteBackend(std::string path, std::optional<Host> pretended, const spi::BackendContext& context)
      : loop_(context.loop),
        events_(context.events),
        watches_(context.loop, [](const LockName&) {}),
        transactions_(context.loop, *this, std::move(path), std::move(pretended)) {}

  ~SqliteBackend() override { leave(); }

  spi::Claims& claims() override { return *this; }
  spi::Registers& registers() override { return *this; }
  spi::Administration& administration() override { return *this; }

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
      return member_ ? member_->lifeline() : std::vector<int>();
    } catch (const Refusal& refusal) {
      throw Error(refusal.failure().code, refusal.failure().detail);
    }
  }

  void close(Done<> done) override {
    leave();
    loop_.defer([done = std::move(done)]() mutable { done(spi::Nothing{}); });
  }

 private:
  // --- claims -------------------------------------------------------------------------------------------------------

  void acquire(const ClaimRequest& request, Done<ClaimAnswer> done) override {
    submit(
        spi::patience(request.lease), std::move(done),
        [this, request](Step& step) {
          auto standing = step.store.acquire(request, member_->enroll(step.store, request.client.get()));
          if (standing.ok()) prove(standing.value(), step);
          return standing;
        },
        [this, &name = request.name, kind = request.kind(), id = request.id](Result<Standing> standing,
                                                                             Done<ClaimAnswer>& answered) {
          if (!standing.ok()) return answered(std::move(standing.failure()));
          if (member_) member_->note(name, kind, id, standing.value());
          answered(std::move(standing.value().answer));
        });
  }

  void release(const ClaimRef& claim, Done<bool> done) override {
    submit(
        spi::patience(claim.lease), std::move(done), [claim](Step& step) { return step.store.release(claim); },
        [this, id = claim.id](bool released, Done<bool>& answered) {
          if (member_) member_->note_gone(id);
          answered(released);
        });
  }

  void renew(std::span<const ClaimRef> claims, Done<std::vector<ClaimAnswer>> done) override {
    base::Duration patience = spi::longest_patience;
    for (const ClaimRef& claim : claims) patience = std::min(patience, spi::patience(claim.lease));
    auto refs = std::make_shared<const std::vector<ClaimRef>>(claims.begin(), claims.end());
    submit(
        patience, std::move(done),
        [refs](Step& step) {
          std::vector<Standing> standings;
          standings.reserve(refs->size());
          for (const ClaimRef& claim : *refs) prove(standings.emplace_back(step.store.renew(claim)), step);
          return standings;
        },
        [this, refs](std::vector<Standing> standings, Done<std::vector<ClaimAnswer>>& answered) {
          std::vector<ClaimAnswer> answers;
          answers.reserve(standings.size());
          for (std::size_t i = 0; i < standings.size(); ++i) {
            const ClaimRef& claim = (*refs)[i];
            if (member_) member_->note(claim.name, claim.kind, claim.id, standings[i]);
            answers.push_back(std::move(standings[i].answer));
          }
          answered(std::move(answers));
        });
  }

  void downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) override {
    submit(
        spi::patience(claim.lease), std::move(done), [claim](Step& step) { return step.store.downgrade(claim); },
        [](Result<Standing> standing, Done<ClaimAnswer>& answered) {
          if (!standing.ok()) return answered(std::move(standing.failure()));
          answered(std::move(standing.value().answer));
        });
  }

  // --- registers ----------------------------------------------------------------------------------------------------

  void read(const LockName& name, Done<Versioned> done) override {
    ask(Step::Access::read, std::move(done),
        [text = name.text()](Step& step) { return step.store.registers().read(text); });
  }

  void write_if(const LockName& name, std::uint64_t expected, std::string value, Done<WriteAnswer> done) override {
    submit_durably<Result<WriteAnswer>>(
        std::move(done), [text = name.text(), expected, value = std::move(value)](RegisterTable& table, auto& notices) {
          return table.write_if(text, expected, value, notices);
        });
  }

  void add(const LockName& name, std::int64_t amount, Done<std::int64_t> done) override {
    submit_durably<Result<std::int64_t>>(
        std::move(done),
        [text = name.text(), amount](RegisterTable& table, auto& notices) { return table.add(text, amount, notices); });
  }

  void watch(const LockName& name, std::uint64_t seen, Done<> done) override {
    submit(
        spi::longest_patience, std::move(done),
        [this, text = name.text(), seen](Step& step) {
          return step.store.registers().watch(member_->enroll(step.store, nullptr), text, seen);
        },
        [this, name](bool changed, Done<>& answered) {
          if (changed) return answered(spi::Nothing{});
          watches_.add(name, std::move(answered));
        });
  }

  // --- administration -----------------------------------------------------------------------------------------------

  void show(const LockName& name, LockKind kind, Done<std::optional<LockStatus>> done) override {
    ask(Step::Access::read, std::move(done),
        [text = name.text(), kind](Step& step) { return step.store.show(text, kind); });
  }

  void list(std::string_view prefix, Done<std::vector<LockStatus>> done) override {
    ask(Step::Access::read, std::move(done),
        [text = std::string(prefix)](Step& step) { return step.store.list(text); });
  }

  void evict(const LockName& name, LockKind kind, std::uint64_t up_to, Done<std::size_t> done) override {
    ask(Step::Access::write, std::move(done),
        [text = name.text(), kind, up_to](Step& step) { return step.store.evict(text, kind, up_to); });
  }

  void ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                      Done<std::size_t> done) override {
    ask(Step::Access::write, std::move(done),
        [text = name.text(), kind, request](Step& step) { return step.store.ask_to_release(text, kind, request); });
  }

  void resize(const LockName& name, std::uint32_t total, Done<bool> done) override {
    ask(Step::Access::write, std::move(done), [name, total](Step& step) -> Result<bool> {
      if (auto failure = kit::why_invalid_total(name, total)) return *std::move(failure);
      return step.store.resize(name.text(), total);
    });
  }

  void now(Done<system_clock::time_point> done) override {
    loop_.defer([done = std::move(done)]() mutable { done(system_clock::now()); });
  }

  // --- operations ---------------------------------------------------------------------------------------------------

  /// The value is the answer.
  struct Tell {
    template <class Value, class Answered>
    void operator()(Value value, Answered& answered) const {
      answered(std::move(value));
    }
  };

  template <class T, class StepFunction, class Finish>
  void submit(base::Duration patience, Done<T> done, StepFunction step, Finish finish) {
    submit(Step::Access::write, patience, std::move(done), std::move(step), std::move(finish));
  }

  /// The value of the step is the answer.
  template <class T, class StepFunction>
  void ask(Step::Access access, Done<T> done, StepFunction step) {
    submit(access, spi::longest_patience, std::move(done), std::move(step), Tell());
  }

  template <class T, class StepFunction, class Finish>
  void submit(Step::Access access, base::Duration patience, Done<T> done, StepFunction step, Finish finish) {
    using Made = OperationOf<Step, T, StepFunction, Finish>;
    auto operation = std::make_unique<Made>(saturating_add(loop_.now(), patience), std::move(step), std::move(finish),
                                            std::move(done));
    if (closed_) return fail_soon(std::move(operation));
    transactions_.add(access, std::move(operation));
  }

  /// `step(RegisterTable&, notices)` makes the result, on a thread that may block.
  template <class Answer, class T, class StepFunction>
  void submit_durably(Done<T> done, StepFunction step) {
    struct Written {
      Answer answer;
      std::vector<Notice> notices;
    };
    // The database must be open before its second side can be: so an operation that does nothing goes first.
    auto shared_step = std::make_shared<StepFunction>(std::move(step));
    submit(
        Step::Access::read, spi::longest_patience, std::move(done), [](Step&) { return spi::Nothing{}; },
        [this, shared_step, deadline = saturating_add(loop_.now(), spi::longest_patience)](spi::Nothing,
                                                                                           Done<T>& answered) {
          if (!durable_) return answered(closed());
          auto write = [shared_step](DurableSide& side) {
            return side.transact([&](Connection& connection) {
              RegisterTable table(connection);
              std::vector<Notice> notices;
              Answer answer = (*shared_step)(table, notices);
              return Written{std::move(answer), std::move(notices)};
            });
          };
          auto finish = [this](Written written, Done<T>& told) {
            if (database_ != nullptr) deliver(database_->doors(), written.notices);
            told(std::move(written.answer));
          };
          using Made = OperationOf<DurableSide, T, decltype(write), decltype(finish)>;
          durable_->add(std::make_shared<Made>(deadline, std::move(write), std::move(finish), std::move(answered)));
        });
  }

  template <class SomeOperation>
  void fail_soon(std::unique_ptr<SomeOperation> operation) {
    loop_.defer([operation = std::move(operation)] { operation->fail(closed()); });
  }

  static void prove(Standing& standing, const Step& step) {
    if (standing.answer.standing != ClaimAnswer::Standing::absent) standing.answer.armed_at = step.sent;
  }

  static Failure closed() { return {Errc::closed, "the client's sqlite: store is closed"}; }

  // --- around the transactions --------------------------------------------------------------------------------------

  void opened(Database& database) override {
    database_ = &database;
    durable_.emplace(loop_, database.files().database, database.host());
    member_.emplace(loop_, events_, watches_, database);
  }

  void closing(Database&) override {
    database_ = nullptr;
    durable_->close(closed_ ? closed() : Failure{Errc::in_doubt, "the database was replaced while it was written"});
    durable_.reset();
    member_.reset();
    maintaining_ = false;
  }

  void began() override { member_->began(); }

  void committed(std::vector<Notice> notices, int log_pages) override {
    member_->committed();
    deliver(database_->doors(), notices);
    if (log_pages >= DurableSide::long_log || database_->numbers().running_low()) maintain(log_pages);
  }

  void reservation_needed() override { maintain(0); }

  /// Reserves numbers and shortens the log, where waiting for the disk is allowed.
  void maintain(int log_pages) {
    if (std::exchange(maintaining_, true)) return;
    auto step = [log_pages](DurableSide& side) {
      side.shorten_log(log_pages);
      return side.reserve();
    };
    auto finish = [](std::int64_t limit, Done<std::int64_t>& done) { done(limit); };
    Done<std::int64_t> done = [this](Result<std::int64_t> limit) {
      maintaining_ = false;
      if (!limit.ok()) return transactions_.refuse_reservation(limit.failure());
      if (database_ != nullptr) database_->numbers().extend_to(limit.value());
      transactions_.resume();
    };
    using Made = OperationOf<DurableSide, std::int64_t, decltype(step), decltype(finish)>;
    durable_->add(std::make_shared<Made>(base::Instant::max(), std::move(step), std::move(finish), std::move(done)));
  }

  void leave() {
    if (std::exchange(closed_, true)) return;
    watches_.close(closed());
    auto resign = [this](Step& step) {
      member_->resign(step.store);
      return spi::Nothing{};
    };
    using Made = OperationOf<Step, spi::Nothing, decltype(resign), Tell>;
    transactions_.close(closed(), std::make_unique<Made>(base::Instant::max(), resign, Tell(), [](const Result<>&) {}));
  }

  spi::Loop& loop_;
  spi::ClaimEvents& events_;
  kit::RegisterWatches watches_;
  Transactions transactions_;
  bool closed_ = false;
  bool maintaining_ = false;
  // While the database is open:
  Database* database_ = nullptr;
  std::optional<DurableQueue> durable_;
  std::optional<Membership> member_;
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

std::unique_ptr<spi::Backend> open(std::string path, std::optional<Host> pretended,
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
