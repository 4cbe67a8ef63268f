# Debian packages by CPack: the tool, the shared library, and what is needed to build with it. script/package makes them.
#
# | package          | install component | holds                                              |
# |------------------|-------------------|----------------------------------------------------|
# | holdfast         | tool              | the tool, its manual page and completions          |
# | libholdfast0     | runtime           | the shared library                                 |
# | libholdfast-etcd | etcd              | what it loads for etcd; so for each such backend   |
# | libholdfast-dev  | development       | headers, the library's link, CMake, pkg-config     |
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME holdfast)
set(CPACK_PACKAGE_VENDOR "The Holdfast authors")
set(CPACK_PACKAGE_CONTACT "The Holdfast authors <maintainers@holdfast.invalid>")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# Only these: what else has an install rule (a test framework that was found in the source tree) stays out.
set(CPACK_COMPONENTS_ALL tool runtime development)
get_property(backend_modules GLOBAL PROPERTY HOLDFAST_BACKEND_MODULES)
list(APPEND CPACK_COMPONENTS_ALL ${backend_modules})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_TOOL_PACKAGE_NAME holdfast)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION admin)
set(CPACK_COMPONENT_TOOL_DESCRIPTION "locks for a fleet of processes, by name
Runs a command while holding a lock, so that of all processes that ask for
the same name, on one host or on many, one at a time runs. Lists who holds
what and who waits, and takes a lock away from a holder that hangs.")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libholdfast0)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "mutual exclusion across processes - shared library
Mutexes, read-write locks, semaphores and elections that are leases in a
store which several processes use. This is the library that programs need
to run.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libholdfast-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "mutual exclusion across processes - development files
Mutexes, read-write locks, semaphores and elections that are leases in a
store which several processes use. These are the headers and what CMake and
pkg-config need to build programs with the library.")

# What is linked is found in the files. The library itself is in no installed package yet, so it is named here, in
# exactly this version: while it is 0.x, another one may have another ABI.
set(same_library "libholdfast0 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/src")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS "${same_library}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${same_library}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libasio-dev | libboost-dev")

set(module_packages)
foreach(backend IN LISTS backend_modules)
  string(TOUPPER "${backend}" upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME libholdfast-${backend})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION libs)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "mutual exclusion across processes - module for ${backend}
Mutexes, read-write locks, semaphores and elections that are leases in a
store which several processes use. This is what the library and the tool
need in addition when that store is ${backend}.")
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${same_library}")
  list(APPEND module_packages libholdfast-${backend})
endforeach()
list(JOIN module_packages ", " CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_LIST_DIR}/debian/triggers")  # ldconfig; CPack adds a call of its own
# Programs that are packaged later find their dependency on the library by this.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")

set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/HoldfastPackageDocs.cmake")
set(CPACK_HOLDFAST_SOURCE "${PROJECT_SOURCE_DIR}")
include(CPack)
