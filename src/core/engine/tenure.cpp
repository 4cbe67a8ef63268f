#include "core/engine/tenure.hpp"

#include "core/engine/cell.hpp"

namespace holdfast::core {

Tenure::Tenure(Engine& engine, Cell& its_cell) : claim(engine, its_cell.name(), *this), cell_(its_cell) {}

void Tenure::claim_granted() { cell_.claim_granted(*this); }
void Tenure::claim_refused() { cell_.claim_refused(*this); }
void Tenure::claim_changed() { cell_.claim_changed(*this); }
void Tenure::claim_lost(const std::string& why) { cell_.claim_lost(*this, why); }
void Tenure::claim_asked_for(const ReleaseRequest& request) { cell_.claim_asked_for(*this, request); }
void Tenure::claim_failed(const spi::Failure& failure) { cell_.claim_failed(*this, failure); }
void Tenure::claim_idle() { cell_.claim_idle(*this); }

}  // namespace holdfast::core
