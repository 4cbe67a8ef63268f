#include "backends/etcd/module.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/etcd/module_directories.hpp"
#include "holdfast/error.hpp"
#include "kit/shared_library.hpp"

namespace holdfast::etcd {
namespace {

constexpr const char* file_name = "libholdfast-etcd.so";

std::atomic<pid_t> used_by = 0;

/// The file of the shared library that this function is in, as the loader found it. Empty if it is in the program
/// itself, for which the loader would only repeat what the program was called by.
std::filesystem::path own_library() {
  Dl_info info = {};
  link_map* object = nullptr;
  void** const wanted = reinterpret_cast<void**>(&object);
  const auto* const here = reinterpret_cast<const void*>(&load_module);
  if (dladdr1(here, &info, wanted, RTLD_DL_LINKMAP) == 0 || object == nullptr || object->l_name == nullptr) return {};
  return object->l_name;
}

/// The file of the library, or of the program that it is linked into. Absolute, and never made so by means of the
/// current directory, in which anybody may have left a file of the module's name; empty if it cannot be found.
std::filesystem::path own_file() {
  std::error_code error;
  const std::filesystem::path library = own_library();
  std::filesystem::path file =
      library.is_absolute() ? std::filesystem::canonical(library, error) : std::filesystem::path();
  if (file.empty()) file = std::filesystem::read_symlink("/proc/self/exe", error);
  return file.is_absolute() ? file : std::filesystem::path();
}

std::vector<std::string> candidates() {
  const std::filesystem::path own = own_file();
  std::vector<std::string> files;
  // Programs of the build tree use the module that was built with them. No other program looks there.
  const std::filesystem::path build_tree = build_directory;
  const auto inside = own.lexically_relative(build_tree);
  if (!inside.empty() && *inside.begin() != "..") files.push_back(build_tree / "modules" / file_name);
  if (!own.empty()) {
    files.push_back(own.parent_path() / "holdfast" / file_name);
    files.push_back(own.parent_path() / file_name);
  }
  files.push_back(std::filesystem::path(installed_module_directory) / file_name);
  files.emplace_back(file_name);
  return files;
}

MakeWire load() {
  const std::vector<std::string> files = candidates();
  const std::optional<kit::SharedLibrary> module = kit::SharedLibrary::load(files);
  if (!module) {
    std::string tried;
    for (const std::string& file : files) tried += (tried.empty() ? "" : ", ") + file;
    throw Error(Errc::unsupported,
                "the module for etcd cannot be loaded; install the Debian package libholdfast-etcd, or gRPC if that is "
                "missing. It was searched for as " +
                    tried);
  }
  MakeWire make_wire = nullptr;
  if (!module->find(make_wire_symbol, make_wire)) {
    throw Error(Errc::unsupported, "the module for etcd, " + module->file() +
                                       ", belongs to another version of Holdfast; install the same version of both");
  }
  return make_wire;
}

}  // namespace

void check_not_forked() {
  const pid_t user = used_by;
  if (user != 0 && user != getpid()) {
    throw Error(Errc::unsupported,
                "a forked child cannot use etcd after its parent has used it, because gRPC does not survive fork(); "
                "start a program instead");
  }
}

MakeWire load_module() {
  check_not_forked();
  used_by =
      getpid();  // before it is loaded, because a child that is forked meanwhile must not wait for the loading to end
  static const MakeWire make_wire = load();
  return make_wire;
}

}  // namespace holdfast::etcd
