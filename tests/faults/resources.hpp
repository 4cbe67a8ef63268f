#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

namespace holdfast::faults {

/// What a lock protects, with a fence: it keeps a journal of the tokens that were shown to it, and whoever shows a
/// token smaller than the last is turned away. In shared memory; a process that is stopped or killed in the middle of
/// a call stops nobody else.
class FencedResource {
 public:
  struct Entry {
    std::uint64_t token = 0;
    bool write = false;
  };

  /// False: turned away. To read is to show one's token, too: whoever comes later with a smaller one would
  /// otherwise change what was read. Without a `fence` everybody is let in, which is a mistake to be noticed.
  bool read(std::uint64_t token, bool fence = true) { return add({token, false}, fence); }
  bool write(std::uint64_t token, bool fence = true) { return add({token, true}, fence); }

  std::vector<Entry> journal() const {
    std::vector<Entry> entries;
    for (const auto& entry : journal_) {
      const std::uint64_t packed = entry.load();
      if (packed == 0) break;
      entries.push_back(unpack(packed));
    }
    return entries;
  }

 private:
  static std::uint64_t pack(Entry entry) { return entry.token << 1U | (entry.write ? 1U : 0U); }
  static Entry unpack(std::uint64_t packed) { return {packed >> 1U, (packed & 1U) != 0}; }

  bool add(Entry entry, bool fence) {
    for (std::size_t at = known_end_.load(); at < journal_.size(); ++at) {
      if (at > 0 && fence && entry.token < unpack(journal_[at - 1].load()).token) return false;
      std::uint64_t expected = 0;
      if (!journal_[at].compare_exchange_strong(expected, pack(entry))) continue;
      known_end_.store(at);  // perhaps not the newest, but all before it are used
      return true;
    }
    std::abort();
  }

  std::atomic<std::size_t> known_end_;
  std::array<std::atomic<std::uint64_t>, 1U << 20U> journal_;
};

/// The same without a fence: a number that is read, increased and written back, and the token of whoever wrote last.
class UnfencedResource {
 public:
  std::uint64_t read() const { return value_.load(); }

  /// True if the write did harm: it undid the write of a later holder.
  bool write(std::uint64_t token, std::uint64_t value) {
    value_.store(value);
    ++writes_;
    return last_.exchange(token) > token;
  }

  std::uint64_t lost_updates() const { return writes_.load() - value_.load(); }

 private:
  std::atomic<std::uint64_t> value_;
  std::atomic<std::uint64_t> writes_;
  std::atomic<std::uint64_t> last_;
};

}  // namespace holdfast::faults
