#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/intrusive_list.hpp"
#include "core/engine/claim.hpp"
#include "core/engine/hold_group.hpp"
#include "core/engine/hold_record.hpp"
#include "core/engine/request.hpp"
#include "holdfast/name.hpp"
#include "holdfast/status.hpp"

namespace holdfast::core {

class Engine;

/// Everything that one client does about one lock or semaphore: a local line in front of few claims in the store.
///
/// All requests of the client stand in one line, and only the first of them is sought in the store. What is held
/// already serves the next in line without asking the store, as long as it is renewed, safe, on the terms that the next
/// one wants, and since the store's grant fewer than `local_turns` turns, and less than ttl / 10 and 50 ms, have
/// passed:
///
/// - when an exclusive hold ends, it is handed over, as its own turn with its own larger token;
/// - while a shared claim is held, readers join it; those that stood behind one another when it was granted do so
///   without a bound. A claim for further readers takes the older one's over when it is granted.
///
/// Otherwise the claim goes back, and a new one joins the end of the store's line: other clients are never starved.
/// Permits are never handed over: each hold has a claim of its own.
///
/// A request that will not wait is refused at once if anybody here stands in its way. A lost hold does not block the
/// line.
class Cell {
 public:
  Cell(Engine& engine, const LockName& name, LockKind its_kind);
  ~Cell();
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  const LockName& name() const { return *name_; }
  const LockKind kind;
  /// Of this cell and no other in this process, ever.
  const std::uint64_t serial;

  /// Answers `request` now or later.
  void enter(Request& request);
  /// Answers it with `why` unless it was answered before.
  void cancel(Request& request, spi::Failure why);

  /// Ends a hold. `told` hears what the store said of it, if the store has to be asked at all.
  void release(HoldRecord& hold, Claim::Told told = {});
  void extend(HoldRecord& hold, spi::milliseconds length, spi::Done<> done);
  /// Makes an exclusive hold shared, at once for us.
  void downgrade(HoldRecord& hold, spi::Done<> done);

  /// Answers all requests with Errc::closed, declares the holds lost and gives the claims back.
  void close();
  /// The backend is about to be closed. The cell may be gone afterwards.
  void abandon();

  // What the store tells by itself.
  void granted(spi::ClaimId id, const spi::ClaimAnswer& answer);
  void check(spi::ClaimId id);

  /// Mutexes keep their cell; a cell that nobody keeps and that has nothing to do is forgotten.
  void keep() { ++keepers_; }
  void let_go();
  bool idle() const;

  std::size_t holds() const;
  std::size_t holds_at_risk() const;
  std::size_t waiting() const { return line_.size(); }

  // What becomes of a claim; for its group.
  void claim_granted(HoldGroup& group);
  void claim_refused(HoldGroup& group);
  void claim_changed(HoldGroup& group);
  void claim_lost(HoldGroup& group, const std::string& why);
  void claim_asked_for(HoldGroup& group, const ReleaseRequest& request);
  void claim_failed(HoldGroup& group, const spi::Failure& failure);
  void claim_idle(HoldGroup& group);

 private:
  /// For messages.
  std::string called() const;
  std::optional<spi::Failure> why_impossible(const Request& request) const;
  bool in_the_way_of(const Request& request) const;
  void pump();
  void seek(HoldGroup& group, Claim::Told told = {});
  void unseek();
  void pass_on(HoldGroup& group, Claim::Told told);
  bool within_bounds(const HoldGroup& group) const;
  bool may_hand_over(const HoldGroup& group) const;
  HoldGroup* shared_group_for(const Request& request) const;
  void admit_front(HoldGroup& group);
  void absorb_older_readers(HoldGroup& newer);
  enum class Tries : std::uint8_t { all, those_that_outlast_no_failure };
  void answer_tries(const spi::Failure& why, Tries which = Tries::all);

  void lose(HoldRecord& hold, const std::string& why);
  void lose_all(HoldGroup& group, const std::string& why);
  void max_hold_is_over(HoldRecord& hold);
  void catch_up();
  void catch_up(HoldRecord& hold);

  void answer(Request& request, Request::Answer answer);
  void answer_all(const spi::Failure& why);
  void set_request_timer(Request& request);
  void request_timer_due(Request& request);
  Errc why_no_answer() const;
  spi::Failure why_not_in_time(const Request& request) const;
  const spi::Failure& last_failure() const;

  HoldGroup* exclusive_group() const;
  HoldGroup& vacant_group();
  HoldGroup* find(spi::ClaimId id) const;
  void dispose_of(HoldGroup& group);
  void forget_if_idle();

  Engine& engine_;
  const std::shared_ptr<const LockName> name_;
  base::IntrusiveList<Request> line_;
  base::IntrusiveList<HoldGroup> groups_;  ///< owned; one is kept for the next claim
  HoldGroup* sought_ = nullptr;            ///< whose claim is sought for the first in line
  HoldGroup* vacant_ = nullptr;            ///< whose claim became none last
  std::unique_ptr<const spi::Failure> last_failure_;
  std::uint32_t exclusive_waiting_ = 0;  ///< in line
  std::uint32_t tries_waiting_ = 0;      ///< in line: requests that will not wait for others
  std::uint32_t keepers_ = 0;
  bool closing_ = false;
};

/// Keeps a cell for as long as this exists. Under the monitor.
class KeptCell {
 public:
  explicit KeptCell(Cell& cell) : cell_(cell) { cell_.keep(); }
  ~KeptCell() { cell_.let_go(); }
  KeptCell(const KeptCell&) = delete;
  KeptCell& operator=(const KeptCell&) = delete;

  Cell& operator*() const { return cell_; }
  Cell* operator->() const { return &cell_; }

 private:
  Cell& cell_;
};

}  // namespace holdfast::core
