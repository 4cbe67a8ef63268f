#include "core/engine.hpp"

#include <utility>
#include <vector>

namespace holdfast::core {

using spi::Duration;

Engine::Engine(spi::Loop& loop, UserSide& user, EngineOptions options)
    : loop_(loop),
      user_(user),
      options_(std::move(options)),
      identity_(std::make_shared<const ClientIdentity>(options_.identity)),
      random_(options_.seed),
      keeper_(*this) {}

Engine::~Engine() = default;

void Engine::attach(std::unique_ptr<spi::Backend> backend) {
  backend_ = std::move(backend);
  leases_are_sessions_ = backend_->traits().lease_scope == StoreTraits::LeaseScope::session;
}

Cell* Engine::find(const LockName& name) {
  const auto found = cells_.find(name.text());
  return found == cells_.end() ? nullptr : found->second.get();
}

Cell& Engine::cell(const LockName& name) {
  if (Cell* existing = find(name)) return *existing;
  auto made = std::make_unique<Cell>(*this, name);
  const std::string_view key = made->name().text();
  return *cells_.emplace(key, std::move(made)).first->second;
}

void Engine::forget(Cell& cell) {
  // The key is a view into the cell: taken out of the map first, destroyed afterwards.
  const auto gone = cells_.extract(cell.name().text());
}

void Engine::cell_closed() {
  if (cells_to_close_ > 0 && --cells_to_close_ == 0) close_backend();
}

void Engine::granted(const LockName& name, spi::ClaimId id, const spi::ClaimAnswer& answer) {
  if (Cell* cell = find(name)) cell->granted(id, answer);
}

void Engine::check(const LockName& name, spi::ClaimId id) {
  if (Cell* cell = find(name)) cell->check(id);
}

void Engine::contact(bool good) {
  if (good) {
    contact_ = Health::Contact::good;
    last_contact_ = loop_.now();
  } else if (contacted()) {
    contact_ = Health::Contact::failing;
  }
}

Health Engine::health() const {
  Health health{.contact = contact_,
                .since_contact = contacted() ? loop_.now() - last_contact_ : Duration::zero(),
                .grants = counters_.grants,
                .local_turns = counters_.local_turns,
                .renewals = counters_.renewals,
                .failed_renewals = counters_.failed_renewals,
                .lost = counters_.lost};
  for (const auto& [name, cell] : cells_) {
    if (cell->held()) ++health.holds;
    if (cell->at_risk()) ++health.at_risk;
    health.waiting += cell->waiting();
  }
  return health;
}

Duration Engine::jittered(Duration duration) {
  const auto half = static_cast<std::uint64_t>(duration.count() / 2);
  return duration - Duration(static_cast<Duration::rep>(half > 0 ? random_.next() % half : 0));
}

void Engine::close(Duration patience, spi::Task done) {
  closing_ = true;
  closed_ = std::move(done);
  close_timer_ = std::make_unique<spi::Timer>(loop_, [this] { backend_closing_ ? finish_closing() : close_backend(); });
  close_timer_->set(spi::saturating_add(loop_.now(), patience));

  std::vector<Cell*> busy;
  for (const auto& [name, cell] : cells_) {
    if (!cell->idle()) busy.push_back(cell.get());
  }
  cells_to_close_ = busy.size();
  for (Cell* cell : busy) cell->close();
  if (busy.empty()) close_backend();
}

void Engine::close_backend() {
  cells_to_close_ = 0;
  backend_closing_ = true;
  std::vector<Cell*> left;
  for (const auto& [name, cell] : cells_) left.push_back(cell.get());
  for (Cell* cell : left) cell->abandon();
  close_timer_->set(loop_.now() + spi::longest_patience);
  backend_->close([this](const spi::Result<>&) { finish_closing(); });
}

void Engine::finish_closing() {
  close_timer_->cancel();
  if (closed_) std::exchange(closed_, {})();
}

}  // namespace holdfast::core
