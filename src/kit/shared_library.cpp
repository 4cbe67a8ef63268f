#include "kit/shared_library.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "holdfast/error.hpp"

namespace holdfast::kit {

std::optional<SharedLibrary> SharedLibrary::load(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const bool is_path = file.find('/') != std::string::npos;
    std::error_code ignored;
    if (is_path && !std::filesystem::exists(file, ignored)) continue;
    // Local: its symbols are nobody else's business, and a program may use another version of the same library.
    if (void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
      return SharedLibrary(file, handle);
    }
    if (is_path) throw Error(Errc::unsupported, file + " cannot be loaded: " + ::dlerror());
  }
  return std::nullopt;
}

void* SharedLibrary::symbol(const char* name) const { return ::dlsym(handle_, name); }

}  // namespace holdfast::kit
