#include "core/engine/hold_group.hpp"

#include "core/engine/cell.hpp"

namespace holdfast::core {

HoldGroup::HoldGroup(Engine& engine, Cell& its_cell) : claim(engine, its_cell.name(), *this), cell_(its_cell) {}

void HoldGroup::claim_granted() { cell_.claim_granted(*this); }
void HoldGroup::claim_refused() { cell_.claim_refused(*this); }
void HoldGroup::claim_changed() { cell_.claim_changed(*this); }
void HoldGroup::claim_lost(const std::string& why) { cell_.claim_lost(*this, why); }
void HoldGroup::claim_asked_for(const ReleaseRequest& request) { cell_.claim_asked_for(*this, request); }
void HoldGroup::claim_failed(const spi::Failure& failure) { cell_.claim_failed(*this, failure); }
void HoldGroup::claim_idle() { cell_.claim_idle(*this); }

}  // namespace holdfast::core
