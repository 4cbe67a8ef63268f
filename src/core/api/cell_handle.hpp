#pragma once

#include "core/api/client_handle.hpp"

namespace holdfast::core {

/// A lock's or a semaphore's grip on the cell of its name.
class CellHandle : public ClientHandle {
 public:
  CellHandle(const Client& client, const LockName& name, LockKind kind = LockKind::lock)
      : ClientHandle(client), cell_(core().keep_cell(name, kind)) {}
  ~CellHandle() {
    if (!core().forked()) core().let_go_of(cell_);
  }

  Cell& cell() const { return cell_; }
  const LockName& name() const { return cell_.name(); }

 private:
  Cell& cell_;
};

/// Throws Errc::invalid_argument that says what to change.
void check(const LockOptions& options);

}  // namespace holdfast::core
