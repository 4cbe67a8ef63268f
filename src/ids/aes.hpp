#pragma once

#include <cstddef>
#include <span>

namespace holdfast::ids {

/// Whether this processor has instructions for AES.
bool has_aes() noexcept;

/// Fills `out` with AES-128 in counter mode: the encrypted `counter`, counter + 1, ... The counter's first 8 bytes count,
/// the least significant one first. REQUIRES: has_aes(), and out.size() is a multiple of 128. `key` and `counter` may
/// be part of `out`.
void aes128_ctr(std::span<const std::byte, 16> key, std::span<const std::byte, 16> counter,
                std::span<std::byte> out) noexcept;

}  // namespace holdfast::ids
