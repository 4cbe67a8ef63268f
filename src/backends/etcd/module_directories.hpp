#pragma once

namespace holdfast::etcd {

/// The directory in which `cmake --install` puts the module.
extern const char* const installed_module_directory;
/// The directory in which the library was built. Programs in it use the module that was built with them.
extern const char* const build_directory;

}  // namespace holdfast::etcd
