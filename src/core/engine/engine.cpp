#include "core/engine/engine.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace holdfast::core {

using base::Duration;

namespace {

/// How long closing waits for a store that has never answered: nothing that was granted is there to be given back, but
/// what was asked for may still have to leave this process, and its withdrawal behind it.
constexpr Duration farewell = std::chrono::milliseconds(100);

}  // namespace

Engine::Engine(spi::Loop& loop, UserSide& user, EngineOptions options)
    : loop_(loop),
      user_(user),
      options_(std::move(options)),
      identity_(std::make_shared<const ClientIdentity>(options_.identity)),
      random_(options_.seed),
      renewals_(*this) {}

Engine::~Engine() = default;

void Engine::attach(std::unique_ptr<spi::Backend> backend) {
  backend_ = std::move(backend);
  traits_ = backend_->traits();
}

Cell* Engine::find(const Cells& cells, const LockName& name) {
  const auto found = cells.find(name.text());
  return found == cells.end() ? nullptr : found->second.get();
}

Cell& Engine::cell(const LockName& name, LockKind kind) {
  Cells& known = cells(kind);
  if (Cell* existing = find(known, name)) return *existing;
  auto made = std::make_unique<Cell>(*this, name, kind);
  const std::string_view key = made->name().text();
  return *known.emplace(key, std::move(made)).first->second;
}

void Engine::forget(Cell& cell) {
  // The key is a view into the cell: taken out of the map first, destroyed afterwards.
  const auto gone = cells(cell.kind).extract(cell.name().text());
}

std::vector<Cell*> Engine::all_cells() const {
  std::vector<Cell*> all;
  all.reserve(locks_.size() + semaphores_.size());
  for (const Cells* cells : {&locks_, &semaphores_}) {
    for (const auto& [name, cell] : *cells) all.push_back(cell.get());
  }
  return all;
}

void Engine::cell_closed() {
  if (cells_to_close_ == 0) return;
  --cells_to_close_;
  if (cells_to_close_ == 0) close_backend();
}

void Engine::granted(const LockName& name, LockKind kind, spi::ClaimId id, const spi::ClaimAnswer& answer) {
  if (Cell* const cell = find(cells(kind), name)) cell->granted(id, answer);
}

void Engine::check(const LockName& name, LockKind kind, spi::ClaimId id) {
  if (Cell* const cell = find(cells(kind), name)) cell->check(id);
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
  for (const Cell* cell : all_cells()) {
    health.holds += cell->holds();
    health.at_risk += cell->holds_at_risk();
    health.waiting += cell->waiting();
  }
  return health;
}

Duration Engine::jittered(Duration duration) {
  const auto half = static_cast<std::uint64_t>(duration.count() / 2);
  return duration - Duration(static_cast<Duration::rep>(half > 0 ? random_.next() % half : 0));
}

void Engine::close(Duration patience, base::Task done) {
  closing_ = true;
  closed_ = std::move(done);
  close_timer_ = std::make_unique<spi::Timer>(loop_, [this] {
    if (backend_closing_) return finish_closing();
    close_backend();
  });
  close_timer_->set(base::saturating_add(loop_.now(), contacted() ? patience : std::min(patience, farewell)));

  for (Caller* caller = callers_.first(); caller != nullptr; caller = callers_.next(*caller)) {
    caller->interrupt({Errc::closed, "the client is closed"});
  }
  std::vector<Cell*> busy = all_cells();
  std::erase_if(busy, [](const Cell* cell) { return cell->idle(); });
  cells_to_close_ = busy.size();
  for (Cell* cell : busy) cell->close();
  if (busy.empty()) close_backend();
}

void Engine::close_backend() {
  cells_to_close_ = 0;
  backend_closing_ = true;
  for (Cell* cell : all_cells()) cell->abandon();
  close_timer_->set(loop_.now() + spi::longest_patience);
  backend_->close([this](const spi::Result<>&) { finish_closing(); });
}

void Engine::finish_closing() {
  close_timer_->cancel();
  if (base::Task closed = std::exchange(closed_, {})) closed();
}

}  // namespace holdfast::core
