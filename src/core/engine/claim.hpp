#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/engine/lease.hpp"
#include "core/engine/leftovers.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/options.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::core {

class Engine;

/// The store's side of one cell: a claim that is asked for, kept and given back, whatever happens to the messages.
///
/// | phase     | meaning                                   | what the timer is for             |
/// |-----------|-------------------------------------------|-----------------------------------|
/// | none      | nothing of ours is in the store           | -                                 |
/// | acquiring | acquire is under way, or will be repeated | repeating it, with the same id    |
/// | waiting   | the store has it in line                  | renewing it, which is re-checking |
/// | granted   | it is ours until V, later if renewed      | renewing it; V                    |
///
/// Every claim has an id of its own; answers about other ids are yesterday's and change nothing. A claim that is given
/// back, lost or replaced becomes a leftover, which is followed until the store confirms that it is gone; meanwhile the
/// next claim may be asked for, and names it as the one it `replaces`.
class Claim {
 public:
  enum class Phase : std::uint8_t { none, acquiring, waiting, granted };

  /// Told what becomes of the claim; each call may ask or leave at once.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void claim_granted() = 0;
    /// The lock is busy, and the request would not wait.
    virtual void claim_refused() = 0;
    /// An answer, or its absence, changed V or at_risk.
    virtual void claim_changed() = 0;
    /// The claim is lost: V has passed, or the store says that it is gone.
    virtual void claim_lost(const std::string& why) = 0;
    /// Somebody asks the holder of a granted claim to release it.
    virtual void claim_asked_for(const ReleaseRequest& request) = 0;
    /// A request of a claim that is not granted failed; it is repeated if `failure` allows it, else the claim is none.
    virtual void claim_failed(const spi::Failure& failure) = 0;
    /// The phase is none, nothing is under way any more, and nothing is left over.
    virtual void claim_idle() = 0;
  };

  struct Terms {
    spi::milliseconds ttl = {};
    spi::milliseconds lock_delay = {};
    spi::Mode mode = {};
    LeaseKind lease_kind = LeaseKind::renewed;
    friend bool operator==(const Terms&, const Terms&) = default;
  };
  using Told = Leftovers::Told;

  Claim(Engine& engine, const LockName& name, Owner& owner);

  Phase phase() const { return phase_; }
  bool idle() const { return phase_ == Phase::none && in_flight_ == 0 && (!leftovers_ || leftovers_->idle()); }
  /// It is asked for: under way to the store, or in its line.
  bool sought() const { return phase_ == Phase::acquiring || phase_ == Phase::waiting; }
  bool at_risk() const { return at_risk_; }
  bool asked_for() const { return asked_until_ != base::Instant::min(); }
  const Terms& terms() const { return terms_; }
  std::uint64_t number() const { return number_; }
  base::Instant valid_until() const { return lease_.valid_until(); }
  /// What the store gave, which may be more than the ttl.
  spi::milliseconds lease_length() const { return lease_.length(); }
  base::Instant last_answer_at() const { return last_answer_at_; }

  /// Joins the end of the line with a new claim, in place of the present one if there is one. `told` hears what became
  /// of that one.
  void ask(const Terms& terms, spi::WhenBusy when_busy, const std::string& reason, Told told = {});
  /// Gives the claim back, or leaves the line. REQUIRES: phase is not none.
  void leave(Told told = {}, Leftovers::When when = Leftovers::When::now);
  /// Lets go without telling the store, which keeps the name closed until the lease, and the lock_delay, have ended.
  /// REQUIRES: phase is not none.
  void let_expire() { forget(); }
  /// Makes a granted exclusive claim shared: for us at once, in the store as soon as it answers. `done` hears whether
  /// its first answer came; the store is told again after each renewal until it confirms.
  void downgrade(spi::Done<> done);
  /// Makes the lease of a granted claim last at least `length` from now.
  void extend(spi::milliseconds length, spi::Done<> done);

  /// Does now what the timer is about to do. (After a long pause, a caller may be faster than the timer's thread.)
  void catch_up() { timer_due(); }

  // What the store tells by itself.
  void pushed(spi::ClaimId id, const spi::ClaimAnswer& answer);
  void check(spi::ClaimId id);

  /// The client is about to be closed: nothing is put off any more.
  void hurry() {
    if (leftovers_) leftovers_->uncover();
  }
  /// The backend is about to be closed.
  void abandon() {
    if (leftovers_) leftovers_->abandon();
  }

  // For Renewals.
  spi::ClaimId id() const { return id_; }
  spi::ClaimRef ref_to(spi::ClaimId id) const { return {name_, kind(), id, renewal_length()}; }
  void renewal_sent() { ++in_flight_; }
  void renewal_answered(spi::ClaimId id, const spi::Result<spi::ClaimAnswer>& result);

 private:
  /// Whose line it stands in. A claim never changes from one to the other.
  LockKind kind() const { return spi::kind_of(terms_.mode); }
  void send_acquire();
  void acquire_answered(spi::ClaimId id, const spi::Result<spi::ClaimAnswer>& result);
  void handle_renewal(const spi::Result<spi::ClaimAnswer>& result);
  void handle_kept(const spi::ClaimAnswer& answer);
  void note_release_request(const spi::ClaimAnswer& answer);
  void send_downgrade(spi::Done<> done);

  void become_waiting(const spi::ClaimAnswer& answer);
  void become_granted(const spi::ClaimAnswer& answer);
  void ask_again();
  enum class InStore { no, maybe };
  void lose(const std::string& why, InStore in_store);
  void set_phase(Phase phase);
  void drop();
  void forget();
  Leftovers& leftovers();
  Leftovers::Leftover as_leftover(Told told) const;

  void timer_due();
  void renew_at(base::Instant instant);
  void renew_now();
  void set_timer();
  base::Duration next_backoff();
  void note_contact(bool answered);
  void acknowledge(const spi::ClaimAnswer& answer);
  base::Instant renewal_due() const { return lease_.renewal_due(acknowledged_sent_at_); }
  spi::milliseconds renewal_length() const;
  void landed();

  Engine& engine_;
  const LockName& name_;
  Owner& owner_;

  spi::ClaimId id_;
  Terms terms_;
  std::unique_ptr<const std::string> reason_;  ///< null if there is none
  std::uint64_t number_ = 0;                   ///< granted: of the grant; else the least that a pushed grant may have
  Lease lease_;
  spi::Timer timer_;
  base::Instant renewal_due_ = base::Instant::max();
  base::Instant sent_at_ = {};               ///< the last acquire or renewal
  base::Instant acknowledged_sent_at_ = {};  ///< the last one that was answered
  base::Duration backoff_ = {};
  base::Instant last_answer_at_ = base::Instant::min();
  base::Instant asked_until_ = base::Instant::min();  ///< granted: by when somebody wants it back
  std::uint32_t asked_why_ = 0;                       ///< a hash of the reason
  std::uint32_t in_flight_ = 0;
  Phase phase_ = Phase::none;
  spi::WhenBusy when_busy_ = spi::WhenBusy::wait;
  bool in_doubt_ = false;  ///< acquiring: the store may have this claim already
  bool at_risk_ = false;
  bool renewing_ = false;
  bool lease_owed_ = false;      ///< a fixed lease was granted after part of it had run
  bool check_again_ = false;     ///< a hint came while a request was under way
  bool downgrade_owed_ = false;  ///< the store may still think it is exclusive
  std::optional<spi::Expectation> expectation_;
  std::unique_ptr<Leftovers> leftovers_;  ///< made when first needed: most locks are held for long, and have none
};

}  // namespace holdfast::core
