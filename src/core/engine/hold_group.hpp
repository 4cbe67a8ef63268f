#pragma once

#include <cstdint>
#include <string>

#include "base/intrusive_list.hpp"
#include "core/engine/claim.hpp"
#include "core/engine/hold_list.hpp"
#include "core/engine/request.hpp"

namespace holdfast::core {

class Cell;
class Engine;

/// One claim of a cell, and the holds that live on it: one if it is exclusive or for permits, any number if it is
/// shared. Used again for the next claim, which then names what is left over of this one as what it replaces.
class HoldGroup final : public base::ListNode<HoldGroup>, private Claim::Owner {
 public:
  HoldGroup(Engine& engine, Cell& its_cell);

  Cell& cell() const { return cell_; }

  bool suits(const Request& request) const { return claim.terms() == request.terms(); }
  bool held_as(ClaimMode mode) const { return !holds.empty() && claim.terms().mode.kind == mode; }

  Claim claim;
  HoldList holds;
  base::Instant began = {};        ///< when the store granted it
  std::uint32_t turns = 0;         ///< since then: holds that were granted here and not by the store
  std::uint32_t writers_turn = 0;  ///< of these, that of the writer that became a reader; its readers come after it
  bool stays_closed = false;       ///< a hold was lost and not released, and there is a lock_delay

 private:
  // Claim::Owner
  void claim_granted() override;
  void claim_refused() override;
  void claim_changed() override;
  void claim_lost(const std::string& why) override;
  void claim_asked_for(const ReleaseRequest& request) override;
  void claim_failed(const spi::Failure& failure) override;
  void claim_idle() override;

  Cell& cell_;
};

}  // namespace holdfast::core
