#pragma once

#include <cstdint>

namespace holdfast::base {

/// How many forks lie between the first process and this one. Asked before any mutex is touched: in a forked child the
/// parent's mutexes may be locked for ever, and its threads do not exist.
std::uint64_t fork_generation() noexcept;

/// Keeps something that belongs to the parent process reachable, since a forked child must not destroy it.
void keep_for_ever(const void* belongs_to_the_parent) noexcept;

}  // namespace holdfast::base
