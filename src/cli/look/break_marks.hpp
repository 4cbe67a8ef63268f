#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/client.hpp"

namespace holdfast::cli {

/// What an operator is about to take away: everything of that name and kind that was granted up to that number.
struct BreakMark {
  std::string name = {};
  LockKind kind = LockKind::lock;
  std::uint64_t up_to = 0;
};

/// A store keeps no trace of who broke a lock, so that those who watch could not tell it from a release. The tool
/// leaves a mark *before* it breaks one, in a register that holds the newest few; whoever looks at the locks first, and
/// at the marks then, finds it.
void leave_mark(Client& client, const BreakMark& mark);
std::vector<BreakMark> read_marks(Client& client);
/// Whether a grant with this number was broken.
bool is_marked(const std::vector<BreakMark>& marks, const std::string& name, LockKind kind, std::uint64_t number);

}  // namespace holdfast::cli
