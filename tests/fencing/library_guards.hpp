#pragma once

#include <fstream>
#include <iterator>
#include <mutex>
#include <string>

#include "fencing/harness.hpp"
#include "holdfast/fence_gate.hpp"
#include "holdfast/fenced_register.hpp"
#include "holdfast/file_fence.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::fencing {

/// A value that several threads may read and write.
class SharedText {
 public:
  void set(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    text_ = text;
  }
  std::string get() const {
    const std::scoped_lock lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

class BehindAGate : public Guarded {
 public:
  bool write(Token token, const std::string& value) override {
    return gate_.write(token, [&] { text_.set(value); });
  }
  std::string value() override { return text_.get(); }

 private:
  FenceGate gate_;
  SharedText text_;
};

class BehindAFileFence : public Guarded {
 public:
  bool write(Token token, const std::string& value) override {
    return fence_.write(token, [&] {
      std::ofstream(directory_.path() / "value.new") << value;
      std::filesystem::rename(directory_.path() / "value.new", directory_.path() / "value");
    });
  }
  std::string value() override {
    std::ifstream file(directory_.path() / "value");
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  test::TemporaryDirectory directory_{test::memory_directory()};
  FileFence fence_{directory_.path() / "fence"};
};

/// On a store of its own: `url` and the name of a directory, unless it is memory:.
class InAFencedRegister : public Guarded {
 public:
  explicit InAFencedRegister(const std::string& url)
      : client_(url.starts_with("memory:") ? url : url + (directory_.path() / "store.db").string()) {}
  bool write(Token token, const std::string& value) override { return register_.set(value, token); }
  std::string value() override { return register_.get().value; }

 private:
  test::TemporaryDirectory directory_{test::memory_directory()};
  Client client_;
  FencedRegister register_{client_, "value"};
};

}  // namespace holdfast::fencing
