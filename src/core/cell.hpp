#pragma once

#include <memory>
#include <string>

#include "core/claim.hpp"
#include "core/hold_record.hpp"
#include "core/intrusive_list.hpp"
#include "core/request.hpp"
#include "holdfast/name.hpp"

namespace holdfast::core {

class Engine;

/// Everything that one client does about one name: a local line in front of one claim in the store.
///
/// All requests of the client stand in one line, and only the first of them shows in the store. When a hold ends, it
/// is handed to the next in line without asking the store, as its own turn with its own larger token, if
/// - the lease is renewed, safe, and of the length that the next one wants,
/// - since the store's grant fewer than `local_turns` turns, and less than ttl / 10 and 50 ms, have passed.
///
/// Otherwise the claim goes back, and a new one joins the end of the store's line: other clients are never starved.
///
/// A request that will not wait never joins a line: it is refused at once if anybody here holds or waits. A lost hold
/// does not block the line.
class Cell : private Claim::Owner {
 public:
  Cell(Engine& engine, const LockName& name);
  ~Cell() override;

  const LockName& name() const { return *name_; }
  /// Of this cell and no other in this process, ever.
  const std::uint64_t serial;

  /// Answers `request` now or later.
  void enter(Request& request);
  /// Answers it with `why` unless it was answered before.
  void cancel(Request& request, spi::Failure why);

  /// Ends a hold. `told` hears what the store said of it, if the store has to be asked at all.
  void release(HoldRecord& hold, Claim::Told told = {});
  void extend(HoldRecord& hold, spi::milliseconds length, spi::Done<> done);

  /// Answers all requests with Errc::closed, declares the hold lost and gives the claim back.
  void close();
  /// The backend is about to be closed. The cell may be gone afterwards.
  void abandon() { claim_.abandon(); }

  // What the store tells by itself.
  void granted(spi::ClaimId id, const spi::ClaimAnswer& answer) { claim_.pushed(id, answer); }
  void check(spi::ClaimId id) { claim_.check(id); }

  /// Mutexes keep their cell; a cell that nobody keeps and that has nothing to do is forgotten.
  void keep() { ++keepers_; }
  void let_go();
  bool idle() const { return !hold_ && line_.empty() && claim_.idle(); }

  bool held() const { return hold_ != nullptr; }
  bool at_risk() const { return hold_ != nullptr && claim_.at_risk(); }
  std::size_t waiting() const { return line_.size(); }

 private:
  // Claim::Owner
  void claim_granted() override;
  void claim_refused() override;
  void claim_changed() override;
  void claim_lost(const std::string& why) override;
  void claim_failed(const spi::Failure& failure) override;
  void claim_idle() override;

  void pump(Claim::Told told = {});
  void pass_on(Claim::Told told);
  bool may_hand_over() const;
  void hand_to_front();
  void lose_hold(const std::string& why);
  void max_hold_is_over();
  void catch_up();
  void answer(Request& request, Request::Answer answer);
  void answer_all(const spi::Failure& why);
  void set_request_timer(Request& request);
  void request_timer_due(Request& request);
  Errc why_no_answer() const;
  spi::Failure why_not_in_time(const Request& request) const;
  const spi::Failure& last_failure() const;
  void forget_if_idle();

  Engine& engine_;
  const std::shared_ptr<const LockName> name_;
  Claim claim_;
  IntrusiveList<Request> line_;
  std::shared_ptr<HoldRecord> hold_;
  spi::Instant hold_ends_at_ = spi::Instant::max();  ///< max_hold
  std::unique_ptr<spi::Timer> max_hold_timer_;
  spi::Instant tenure_began_ = {};
  std::unique_ptr<const spi::Failure> last_failure_;
  std::uint32_t turn_ = 0;
  std::uint32_t keepers_ = 0;
  bool closing_ = false;
};

}  // namespace holdfast::core
