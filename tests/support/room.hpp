#pragma once

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <thread>

namespace holdfast::test {

/// Where readers and writers meet, and write down whom they met. Lives in memory that forked children share.
struct Room {
  std::atomic<int> readers = 0;
  std::atomic<int> writers = 0;
  std::atomic<int> most_readers = 0;
  std::atomic<int> most_writers = 0;
  std::atomic<bool> both = false;  ///< a reader met a writer
  std::atomic<bool> tokens_were_wrong = false;
  std::atomic<std::uint64_t> last_write = 0;  ///< the token of the last writer
  std::atomic<std::uint64_t> last_read = 0;   ///< the largest token of a reader
  std::atomic<int> counter = 0;               ///< not incremented but read and written: writers that meet lose some

  void read(std::uint64_t token) {
    raise(most_readers, ++readers);
    if (token < last_write) tokens_were_wrong = true;
    raise(last_read, token);
    linger([this] { return writers > 0 || readers > 1; });
    if (writers > 0) both = true;
    --readers;
  }
  void write(std::uint64_t token) {
    raise(most_writers, ++writers);
    if (token <= last_write || token <= last_read) tokens_were_wrong = true;
    last_write = token;
    const int before = counter;
    linger([this] { return readers > 0 || writers > 1; });
    if (readers > 0) both = true;
    counter = before + 1;
    --writers;
  }
  /// As one of many who may be inside together: until it was full once, it is worth waiting for others.
  void visit(int full) {
    raise(most_readers, ++readers);
    linger([] { return false; });
    linger([&] { return most_readers >= full; }, std::chrono::seconds(1));
    --readers;
  }

 private:
  template <class Number>
  static void raise(std::atomic<Number>& most, Number number) {
    Number seen = most;
    while (seen < number && !most.compare_exchange_weak(seen, number)) {
    }
  }
  /// Stays for a moment, so that others have a chance to come in.
  template <class Predicate>
  static void linger(Predicate has_met_somebody, std::chrono::milliseconds at_most = std::chrono::milliseconds(2)) {
    const auto end = std::chrono::steady_clock::now() + at_most;
    while (!has_met_somebody() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }
};

/// A T that forked children share with their parent.
template <class T>
class SharedWithChildren {
 public:
  SharedWithChildren() : memory_(mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    value_ = new (memory_) T();
  }
  ~SharedWithChildren() { munmap(memory_, sizeof(T)); }
  SharedWithChildren(const SharedWithChildren&) = delete;
  SharedWithChildren& operator=(const SharedWithChildren&) = delete;

  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  void* memory_;
  T* value_ = nullptr;
};

}  // namespace holdfast::test
