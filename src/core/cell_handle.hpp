#pragma once

#include <memory>
#include <utility>

#include "core/client_core.hpp"

namespace holdfast::core {

/// A mutex's grip on the cell of its name.
class CellHandle {
 public:
  CellHandle(std::shared_ptr<ClientCore> core, const LockName& name)
      : core_(std::move(core)), cell_(core_->keep_cell(name)) {}
  ~CellHandle() {
    if (core_->forked()) {
      bury(std::move(core_));
    } else {
      core_->let_go_of(cell_);
    }
  }
  CellHandle(const CellHandle&) = delete;
  CellHandle& operator=(const CellHandle&) = delete;

  ClientCore& core() const { return *core_; }
  Cell& cell() const { return cell_; }
  const LockName& name() const { return cell_.name(); }

 private:
  std::shared_ptr<ClientCore> core_;
  Cell& cell_;
};

/// Throws Errc::invalid_argument that says what to change.
void check(const LockOptions& options);

}  // namespace holdfast::core
