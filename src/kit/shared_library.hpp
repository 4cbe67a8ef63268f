#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::kit {

/// A shared library that is loaded when somebody first needs it, and never unloaded. Linked to it, every start of every
/// program would pay for loading it, whichever store the program uses (docs/decisions/0015).
class SharedLibrary {
 public:
  /// Loads the first of `files` that exists. One without a slash is looked for where the system keeps its libraries.
  /// Returns empty if there is none. Throws Error (Errc::unsupported) if a file is there and cannot be loaded. Blocks:
  /// call it through Loop::run_blocking.
  static std::optional<SharedLibrary> load(const std::vector<std::string>& files);

  const std::string& file() const { return file_; }

  /// Sets `function` to the library's function of that name. Returns false, and sets it to null, if there is none.
  template <class Function>
  bool find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(symbol(name));
    return function != nullptr;
  }

 private:
  SharedLibrary(std::string file, void* handle) : file_(std::move(file)), handle_(handle) {}

  void* symbol(const char* name) const;

  std::string file_;
  void* handle_;
};

}  // namespace holdfast::kit
