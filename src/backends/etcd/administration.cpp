#include "backends/etcd/administration.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

#include "backends/etcd/all_answered.hpp"
#include "kit/answer_soon.hpp"
#include "kit/rules.hpp"

namespace holdfast::etcd {

using base::Instant;
using spi::Done;
using spi::Failure;
using spi::milliseconds;
using spi::Operation;
using spi::Result;

namespace {

/// How many operations a transaction may have. Servers accept 128 unless they are configured otherwise.
constexpr std::size_t most_operations = 100;

/// How many leases are looked up at a time.
constexpr std::size_t most_leases = 1000;

constexpr std::array kinds = {LockKind::lock, LockKind::semaphore};

}  // namespace

// --- looking --------------------------------------------------------------------------------------------------------

void EtcdAdministration::show(const LockName& name, LockKind kind, Done<std::optional<LockStatus>> done) {
  showing(name, kind).start(std::move(done));
}

Operation<std::optional<LockStatus>> EtcdAdministration::showing(LockName name, LockKind kind) {
  const std::string path = keys_.line(name.text(), kind);
  const kit::RequestOrder::Place queued = order_.enter(path);
  co_await queued;
  const Instant until = deadline();
  auto line = co_await reading(path, until);
  if (!line.ok()) co_return std::move(line.failure());
  if (line.value().empty()) co_return std::optional<LockStatus>();
  std::vector<const Line*> lines = {&line.value()};
  auto left = co_await looking_at_leases(std::move(lines), until);
  if (!left.ok()) co_return std::move(left.failure());
  co_return std::optional(status_of(name.text(), kind, line.value(), left.value()));
}

void EtcdAdministration::list(std::string_view prefix, Done<std::vector<LockStatus>> done) {
  listing(std::string(prefix)).start(std::move(done));
}

Operation<std::vector<LockStatus>> EtcdAdministration::listing(std::string prefix) {
  const Instant until = deadline();
  Transaction read;
  for (const LockKind kind : kinds) {
    const auto [begin, end] = keys_.range_of_lines(prefix, kind);
    read.then.emplace_back(Range{.key = begin, .range_end = end});
  }
  auto reply = co_await transacting(calls_, std::move(read), until);
  if (!reply.ok()) co_return std::move(reply.failure());
  std::map<std::pair<std::string, LockKind>, std::vector<KeyValue>> found;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    for (KeyValue& each : reply.value().outcomes[i].found) {
      const auto name = keys_.name_in(each.key, kinds[i]);
      if (name) found[{*name, kinds[i]}].push_back(std::move(each));
    }
  }
  std::vector<Line> lines;
  lines.reserve(found.size());
  for (const auto& [key, claims] : found) lines.emplace_back(claims);
  std::vector<const Line*> pointers;
  pointers.reserve(lines.size());
  for (const Line& line : lines) pointers.push_back(&line);
  auto left = co_await looking_at_leases(std::move(pointers), until);
  if (!left.ok()) co_return std::move(left.failure());
  std::vector<LockStatus> locks;
  locks.reserve(found.size());
  std::size_t index = 0;
  for (const auto& [key, claims] : found) {
    locks.push_back(status_of(key.first, key.second, lines[index++], left.value()));
  }
  co_return locks;
}

Operation<Line> EtcdAdministration::reading(std::string line, Instant until) {
  Transaction read;
  read.then.emplace_back(Range{.key = line, .range_end = Keys::end_of(line)});
  auto reply = co_await transacting(calls_, std::move(read), until);
  if (!reply.ok()) co_return std::move(reply.failure());
  co_return Line(reply.value().outcomes[0].found);
}

Operation<EtcdAdministration::Left> EtcdAdministration::looking_at_leases(std::vector<const Line*> lines,
                                                                          Instant until) {
  std::set<std::int64_t> leases;
  for (const Line* const line : lines) {
    for (const Line::Claim& claim : line->claims()) {
      if (claim.lease != 0 && leases.size() < most_leases) leases.insert(claim.lease);
    }
  }
  if (leases.empty()) co_return Left();
  auto left = co_await spi::answer_of<Left>([&](Done<Left> done) {
    auto together = std::make_shared<AllAnswered<Left>>(leases.size(), std::move(done));
    for (const std::int64_t lease : leases) {
      calls_.time_to_live(lease, until, [together, lease](Result<LeaseReply> reply) {
        if (reply.ok()) {
          // The server rounds down to whole seconds.
          const std::int64_t seconds = reply.value().seconds < 0 ? 0 : reply.value().seconds + 1;
          together->gathered[lease] = std::chrono::seconds(seconds);
        }
        together->answered(reply);
      });
    }
  });
  co_return left;
}

LockStatus EtcdAdministration::status_of(const std::string& name, LockKind kind, const Line& line, const Left& left) {
  LockStatus status;
  status.name = name;
  status.kind = kind;
  const bool permits = kind == LockKind::semaphore;
  if (permits) status.total = line.total();
  for (std::size_t place = 0; place < line.size(); ++place) {
    const Line::Claim& claim = line[place];
    const bool granted = line.is_granted(place);
    ClaimStatus each;
    each.client = claim.record.client;
    each.mode = claim.record.mode.kind;
    each.permits = permits ? claim.record.mode.permits : 1;
    each.number = granted ? static_cast<std::uint64_t>(claim.create_revision) : 0;
    each.reason = claim.record.reason;
    each.since = claim.record.since;
    if (const auto found = left.find(claim.lease); found != left.end()) {
      const bool is_ours = claim.record.lease > milliseconds::zero();
      each.lease_left = is_ours ? std::min(found->second, claim.record.lease) : found->second;
    }
    if (granted) status.number = each.number;
    (granted ? status.holders : status.waiters).push_back(std::move(each));
  }
  return status;
}

void EtcdAdministration::now(Done<std::chrono::system_clock::time_point> done) {
  if (calls_.closed()) return kit::answer_soon(loop_, std::move(done), is_closed());
  kit::answer_soon(loop_, std::move(done), Failure{Errc::unsupported, "etcd does not provide a clock"});
}

// --- changing -------------------------------------------------------------------------------------------------------

Operation<bool> EtcdAdministration::changing(std::vector<Change> changes, std::optional<WholeLine> whole,
                                             Instant until) {
  for (std::size_t begin = 0; begin < changes.size(); begin += most_operations) {
    const std::size_t end = std::min(changes.size(), begin + most_operations);
    Transaction transaction;
    for (std::size_t i = begin; i < end; ++i) {
      const Change& change = changes[i];
      transaction.when.push_back(
          {.key = change.claim.key, .what = Compare::What::mod_revision, .number = change.claim.mod_revision});
      if (change.record) {
        transaction.then.emplace_back(Put{.key = change.claim.key, .value = change.record->text(), .keep_lease = true});
      } else {
        transaction.then.emplace_back(Delete{change.claim.key});
      }
    }
    if (whole) transaction.then.emplace_back(Delete{whole->joined_mark});
    if (whole && end == changes.size()) {
      transaction.when.push_back({.key = whole->line,
                                  .range_end = Keys::end_of(whole->line),
                                  .is = Compare::Is::less,
                                  .number = whole->newest + 1});
    }
    auto reply = co_await transacting(calls_, std::move(transaction), until);
    if (!reply.ok()) co_return std::move(reply.failure());
    if (!reply.value().succeeded) co_return false;
  }
  co_return true;
}

void EtcdAdministration::evict(const LockName& name, LockKind kind, std::uint64_t up_to, Done<std::size_t> done) {
  evicting(name, kind, up_to).start(std::move(done));
}

Operation<std::size_t> EtcdAdministration::evicting(LockName name, LockKind kind, std::uint64_t up_to) {
  const std::string path = keys_.line(name.text(), kind);
  const kit::RequestOrder::Place queued = order_.enter(path);
  co_await queued;
  const Instant until = deadline();
  for (;;) {
    auto line = co_await reading(path, until);
    if (!line.ok()) co_return std::move(line.failure());
    std::vector<Change> changes;
    for (std::size_t place = 0; place < line.value().size(); ++place) {
      const Line::Claim& claim = line.value()[place];
      if (static_cast<std::uint64_t>(claim.create_revision) > up_to || !line.value().is_granted(place)) continue;
      changes.push_back({claim});
    }
    const std::size_t count = changes.size();
    if (count == 0) co_return count;
    auto changed = co_await changing(std::move(changes), {}, until);
    if (!changed.ok()) co_return std::move(changed.failure());
    if (changed.value()) co_return count;
  }
}

void EtcdAdministration::ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                                        Done<std::size_t> done) {
  asking_to_release(name, kind, request).start(std::move(done));
}

Operation<std::size_t> EtcdAdministration::asking_to_release(LockName name, LockKind kind, ReleaseRequest request) {
  const std::string path = keys_.line(name.text(), kind);
  const kit::RequestOrder::Place queued = order_.enter(path);
  co_await queued;
  const Instant until = deadline();
  for (;;) {
    auto line = co_await reading(path, until);
    if (!line.ok()) co_return std::move(line.failure());
    std::vector<Change> changes;
    for (std::size_t place = 0; place < line.value().size(); ++place) {
      const Line::Claim& claim = line.value()[place];
      const bool is_ours =
          claim.record.lease > milliseconds::zero();  // other programs would not understand the request
      if (!is_ours || !line.value().is_granted(place)) continue;
      changes.push_back({claim, claim.record});
      changes.back().record->asked_to_release = request;
    }
    const std::size_t count = changes.size();
    if (count == 0) co_return count;
    auto changed = co_await changing(std::move(changes), {}, until);
    if (!changed.ok()) co_return std::move(changed.failure());
    if (changed.value()) co_return count;
  }
}

void EtcdAdministration::resize(const LockName& name, std::uint32_t total, Done<bool> done) {
  if (auto failure = kit::why_invalid_total(name, total)) {
    return kit::answer_soon(loop_, std::move(done), *std::move(failure));
  }
  resizing(name, total).start(std::move(done));
}

/// Writes the new total into all claims.
Operation<bool> EtcdAdministration::resizing(LockName name, std::uint32_t total) {
  const std::string path = keys_.line(name.text(), LockKind::semaphore);
  const kit::RequestOrder::Place queued = order_.enter(path);
  co_await queued;
  const Instant until = deadline();
  for (;;) {
    auto read = co_await reading(path, until);
    if (!read.ok()) co_return std::move(read.failure());
    const Line& line = read.value();
    if (line.empty()) co_return false;
    std::vector<Change> changes;
    for (std::size_t place = 0; place < line.size(); ++place) {
      const bool granted = line.is_granted(place);
      changes.push_back({line[place]});
      if (!granted && line[place].record.mode.permits > total) continue;  // it could never be granted
      Record record = line[place].record;
      record.mode.limit = total;
      record.keeps = record.keeps || granted;  // lowering takes nothing away
      changes.back().record = std::move(record);
    }
    WholeLine whole = {
        .line = path, .joined_mark = keys_.joined_mark(name.text()), .newest = line[line.size() - 1].create_revision};
    auto changed = co_await changing(std::move(changes), std::move(whole), until);
    if (!changed.ok()) co_return std::move(changed.failure());
    if (changed.value()) co_return true;
  }
}

}  // namespace holdfast::etcd
