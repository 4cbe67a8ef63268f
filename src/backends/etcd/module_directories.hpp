#pragma once

namespace holdfast::etcd {

/// Where `cmake --install` puts the module.
extern const char* const installed_module_directory;
/// Where the library was built: programs that lie in there find the module that was built with them.
extern const char* const build_directory;

}  // namespace holdfast::etcd
