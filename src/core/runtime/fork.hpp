#pragma once

#include <cstdint>
#include <memory>

namespace holdfast::core {

/// How many forks lie between the first process and this one. Asked before any mutex is touched: in a forked child the
/// parent's mutexes may be locked for ever, and its threads do not exist.
std::uint64_t fork_generation() noexcept;

/// Keeps something that belongs to the parent process from being destroyed in a forked child.
void bury(std::shared_ptr<void> belongs_to_the_parent) noexcept;

}  // namespace holdfast::core
