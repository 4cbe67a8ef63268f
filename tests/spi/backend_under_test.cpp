#include "spi/backend_under_test.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/url.hpp"
#include "support/errors.hpp"

namespace holdfast::spi_suite {
namespace {

constexpr std::uint64_t marker = 0x5053;

/// Each client is somebody else, as listings show it.
std::shared_ptr<const ClientIdentity> new_identity() {
  static std::atomic<int> made = 0;
  const std::string number = std::to_string(++made);
  return std::make_shared<const ClientIdentity>(ClientIdentity{.id = std::string(32 - number.size(), '0') + number,
                                                               .host = "host " + number,
                                                               .pid = getpid(),
                                                               .command = "spi_tests",
                                                               .label = "client " + number});
}

std::unique_ptr<spi::Backend> open(const std::string& text, const spi::BackendContext& context) {
  const base::Url url = base::Url::parse(text);
  for (const spi::BackendFactory* factory : spi::built_in_backends()) {
    if (std::ranges::find(factory->schemes, url.scheme) != factory->schemes.end()) return factory->open(url, context);
  }
  throw Error(Errc::bad_url, "no backend for " + text);
}

/// For which line a claim was last acquired: requests about a claim must say it, and most cases have only one.
class Kinds {
 public:
  void note(const LockName& name, int claim, LockKind kind) {
    const std::lock_guard lock(mutex_);
    kinds_[{name.text(), claim}] = kind;
  }
  LockKind of(const Ref& ref) {
    if (ref.kind) return *ref.kind;
    const std::lock_guard lock(mutex_);
    const auto known = kinds_.find({ref.name.text(), ref.claim});
    return known == kinds_.end() ? LockKind::lock : known->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, int>, LockKind> kinds_;
};

Kinds& kinds() {
  static Kinds all;
  return all;
}

LockKind kind_of(const Ref& ref) { return kinds().of(ref); }

}  // namespace

spi::ClaimId id_of(int claim) { return {.high = marker, .low = static_cast<std::uint64_t>(claim)}; }

int claim_of(const spi::ClaimId& id) {
  EXPECT_EQ(id.high, marker);
  return static_cast<int>(id.low);
}

BackendUnderTest::BackendUnderTest(const std::string& url) : identity_(new_identity()) {
  const core::Monitor::Section section(monitor_);
  listening_.emplace(monitor_, spi::Expectation::Of::upkeep);
  backend_ = open(url, {.loop = monitor_, .events = *this});
}

BackendUnderTest::~BackendUnderTest() {
  close();
  {
    const core::Monitor::Section section(monitor_);
    backend_.reset();
    listening_.reset();
  }
  monitor_.stop();
  workers_.stop(5s);
  EXPECT_EQ(unanswered_, 0) << "requests were never answered";
}

StoreTraits BackendUnderTest::traits() {
  const core::Monitor::Section section(monitor_);
  return backend_->traits();
}

// --- requests that are not waited for -------------------------------------------------------------------------------

template <class T, class Start>
Pending<T> BackendUnderTest::start(std::shared_ptr<const void> arguments, Start start) {
  auto call = std::make_shared<Call<T>>(std::move(arguments));
  const core::Monitor::Section section(monitor_);
  ++unanswered_;
  inside_a_call_ = true;
  start(spi::Done<T>([this, call](Result<T> result) {
    --unanswered_;
    call->answer(std::move(result));
  }));
  inside_a_call_ = false;
  call->returned();
  return call;
}

Pending<ClaimAnswer> BackendUnderTest::start_acquire(int claim, const AcquireOptions& options) {
  auto kept = std::make_shared<const LockName>(options.name);
  kinds().note(options.name, claim, spi::kind_of(options.mode));
  return start<ClaimAnswer>(kept, [&](auto done) {
    const auto replaces = options.replaces ? std::optional(id_of(*options.replaces)) : std::nullopt;
    backend_->claims().acquire({.name = *kept,
                                .id = id_of(claim),
                                .mode = options.mode,
                                .lease = options.lease,
                                .lease_kind = options.lease_kind,
                                .when_busy = options.when_busy,
                                .lock_delay = options.lock_delay,
                                .replaces = replaces,
                                .client = identity_,
                                .reason = options.reason},
                               std::move(done));
  });
}

Pending<bool> BackendUnderTest::start_release(const Ref& ref) {
  auto kept = std::make_shared<const LockName>(ref.name);
  return start<bool>(kept, [&](auto done) {
    backend_->claims().release({*kept, kind_of(ref), id_of(ref.claim), ref.lease}, std::move(done));
  });
}

Pending<std::vector<ClaimAnswer>> BackendUnderTest::start_renew(const std::vector<Ref>& refs) {
  auto kept = std::make_shared<const std::vector<Ref>>(refs);
  return start<std::vector<ClaimAnswer>>(kept, [&](auto done) {
    std::vector<spi::ClaimRef> claims;  // good during the call only
    for (const Ref& ref : *kept) claims.push_back({ref.name, kind_of(ref), id_of(ref.claim), ref.lease});
    backend_->claims().renew(claims, std::move(done));
  });
}

Pending<ClaimAnswer> BackendUnderTest::start_downgrade(const Ref& ref) {
  auto kept = std::make_shared<const LockName>(ref.name);
  return start<ClaimAnswer>(kept, [&](auto done) {
    backend_->claims().downgrade({*kept, kind_of(ref), id_of(ref.claim), ref.lease}, std::move(done));
  });
}

Pending<spi::Versioned> BackendUnderTest::start_read(const LockName& name) {
  return start<spi::Versioned>({}, [&](auto done) { backend_->registers().read(name, std::move(done)); });
}

Pending<spi::Registers::WriteAnswer> BackendUnderTest::start_write_if(const LockName& name, std::uint64_t expected,
                                                                      std::string value) {
  return start<spi::Registers::WriteAnswer>(
      {}, [&](auto done) { backend_->registers().write_if(name, expected, std::move(value), std::move(done)); });
}

Pending<std::int64_t> BackendUnderTest::start_add(const LockName& name, std::int64_t amount) {
  return start<std::int64_t>({}, [&](auto done) { backend_->registers().add(name, amount, std::move(done)); });
}

Pending<> BackendUnderTest::start_watch(const LockName& name, std::uint64_t seen) {
  return start<spi::Nothing>({}, [&](auto done) { backend_->registers().watch(name, seen, std::move(done)); });
}

Pending<std::optional<LockStatus>> BackendUnderTest::start_show(const LockName& name, LockKind kind) {
  return start<std::optional<LockStatus>>(
      {}, [&](auto done) { backend_->administration().show(name, kind, std::move(done)); });
}

Pending<std::vector<LockStatus>> BackendUnderTest::start_list(const std::string& prefix) {
  return start<std::vector<LockStatus>>({},
                                        [&](auto done) { backend_->administration().list(prefix, std::move(done)); });
}

Pending<std::size_t> BackendUnderTest::start_evict(const LockName& name, LockKind kind, std::uint64_t up_to) {
  return start<std::size_t>({},
                            [&](auto done) { backend_->administration().evict(name, kind, up_to, std::move(done)); });
}

Pending<std::size_t> BackendUnderTest::start_ask_to_release(const LockName& name, const ReleaseRequest& request,
                                                            LockKind kind) {
  return start<std::size_t>(
      {}, [&](auto done) { backend_->administration().ask_to_release(name, kind, request, std::move(done)); });
}

Pending<bool> BackendUnderTest::start_resize(const LockName& name, std::uint32_t total) {
  return start<bool>({}, [&](auto done) { backend_->administration().resize(name, total, std::move(done)); });
}

Pending<std::chrono::system_clock::time_point> BackendUnderTest::start_now() {
  return start<std::chrono::system_clock::time_point>(
      {}, [&](auto done) { backend_->administration().now(std::move(done)); });
}

Pending<> BackendUnderTest::start_close() {
  return start<spi::Nothing>({}, [&](auto done) {
    backend_->close([this, done = std::move(done)](Result<> result) mutable {
      closed_ = true;
      done(std::move(result));
    });
  });
}

// --- requests that are waited for -----------------------------------------------------------------------------------

template <class StartCall>
auto BackendUnderTest::wait_for(StartCall start_call, Again again) {
  const auto deadline = std::chrono::steady_clock::now() + test::patience;
  for (;;) {
    auto result = start_call()->result();
    const auto errc = errc_of(result);
    const bool harmless = errc == Errc::unreachable || (errc == Errc::in_doubt && again == Again::if_in_doubt);
    if (!harmless || std::chrono::steady_clock::now() > deadline) return result;
  }
}

template <class StartCall>
auto BackendUnderTest::value_of(StartCall start_call, Again again) {
  auto result = wait_for(std::move(start_call), again);
  using Value = std::decay_t<decltype(result.value())>;
  if (result.ok()) return std::move(result.value());
  ADD_FAILURE() << make_error_code(result.failure().code).message() << ": " << result.failure().detail;
  return Value{};
}

Result<ClaimAnswer> BackendUnderTest::try_acquire(int claim, const AcquireOptions& options) {
  return wait_for([&] { return start_acquire(claim, options); });
}
Result<ClaimAnswer> BackendUnderTest::try_downgrade(const Ref& ref) {
  return wait_for([&] { return start_downgrade(ref); });
}
Result<spi::Registers::WriteAnswer> BackendUnderTest::try_write_if(const LockName& name, std::uint64_t expected,
                                                                   std::string value) {
  return wait_for([&] { return start_write_if(name, expected, value); });
}
Result<std::int64_t> BackendUnderTest::try_add(const LockName& name, std::int64_t amount) {
  return wait_for([&] { return start_add(name, amount); });
}
Result<bool> BackendUnderTest::try_resize(const LockName& name, std::uint32_t total) {
  return wait_for([&] { return start_resize(name, total); });
}

ClaimAnswer BackendUnderTest::acquire(int claim, const AcquireOptions& options) {
  return value_of([&] { return start_acquire(claim, options); }, Again::if_in_doubt);
}
bool BackendUnderTest::release(int claim, const LockName& name) {
  return value_of([&] { return start_release({claim, name}); });
}
std::vector<ClaimAnswer> BackendUnderTest::renew(const std::vector<Ref>& refs) {
  auto answers = value_of([&] { return start_renew(refs); }, Again::if_in_doubt);
  EXPECT_EQ(answers.size(), refs.size());
  answers.resize(refs.size());
  return answers;
}
ClaimAnswer BackendUnderTest::downgrade(int claim) {
  return value_of([&] { return start_downgrade({.claim = claim}); });
}
spi::Versioned BackendUnderTest::read(const LockName& name) {
  return value_of([&] { return start_read(name); }, Again::if_in_doubt);
}
spi::Registers::WriteAnswer BackendUnderTest::write_if(const LockName& name, std::uint64_t expected,
                                                       std::string value) {
  return value_of([&] { return start_write_if(name, expected, value); });
}
std::int64_t BackendUnderTest::add(const LockName& name, std::int64_t amount) {
  return value_of([&] { return start_add(name, amount); });
}
std::optional<LockStatus> BackendUnderTest::show(const LockName& name, LockKind kind) {
  return value_of([&] { return start_show(name, kind); }, Again::if_in_doubt);
}
std::vector<LockStatus> BackendUnderTest::list(const std::string& prefix) {
  return value_of([&] { return start_list(prefix); }, Again::if_in_doubt);
}
std::size_t BackendUnderTest::evict(const LockName& name, LockKind kind, std::uint64_t up_to) {
  return value_of([&] { return start_evict(name, kind, up_to); });
}
std::size_t BackendUnderTest::ask_to_release(const LockName& name, const ReleaseRequest& request, LockKind kind) {
  return value_of([&] { return start_ask_to_release(name, request, kind); });
}
bool BackendUnderTest::resize(std::uint32_t total, const LockName& name) {
  return value_of([&] { return start_resize(name, total); });
}
std::chrono::system_clock::time_point BackendUnderTest::now() {
  return value_of([&] { return start_now(); }, Again::if_in_doubt);
}
void BackendUnderTest::close() {
  value_of([&] { return start_close(); });
}

// --- what it was told -----------------------------------------------------------------------------------------------

void BackendUnderTest::granted(const LockName& name, LockKind kind, spi::ClaimId id, const ClaimAnswer& answer) {
  EXPECT_EQ(answer.standing, spi_suite::granted);
  EXPECT_EQ(answer.armed_at, base::Instant::min()) << "a push proves nothing about the lease";
  note({Told::Of::a_grant, name.text(), kind, claim_of(id), answer});
}

void BackendUnderTest::check(const LockName& name, LockKind kind, spi::ClaimId id) {
  note({Told::Of::a_hint, name.text(), kind, claim_of(id), {}});
}

void BackendUnderTest::note(Told told) {
  EXPECT_FALSE(inside_a_call_) << "told inside a call";
  EXPECT_FALSE(closed_) << "told after the end";
  told_.add(std::move(told));
}

std::vector<int> BackendUnderTest::told_granted() const {
  std::vector<int> claims;
  for (const Told& told : told_.all()) {
    if (told.of == Told::Of::a_grant) claims.push_back(told.claim);
  }
  return claims;
}

std::optional<Told> BackendUnderTest::told_of(Told::Of of, int claim) const {
  std::optional<Told> found;
  test::eventually([&] {
    for (const Told& told : told_.all()) {
      if (told.of == of && told.claim == claim) found = told;
    }
    return found.has_value();
  });
  return found;
}

}  // namespace holdfast::spi_suite
