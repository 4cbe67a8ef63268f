# Install rules: the library, its headers, find_package(holdfast COMPONENTS <backend>...) and pkg-config.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/holdfast")

install(TARGETS holdfast EXPORT holdfast-targets
  RUNTIME COMPONENT runtime
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development
  FILE_SET HEADERS COMPONENT development
  FILE_SET asio_headers COMPONENT development)
# What the library loads when a URL of such a backend is first used.
get_property(backend_modules GLOBAL PROPERTY HOLDFAST_BACKEND_MODULES)
foreach(backend IN LISTS backend_modules)
  install(TARGETS holdfast_${backend}
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/holdfast" COMPONENT ${backend})
endforeach()
install(EXPORT holdfast-targets NAMESPACE holdfast:: DESTINATION "${package_dir}" COMPONENT development)

# A static library leaves its client libraries to whoever links it, so the consumer must find them too.
get_property(HOLDFAST_BACKENDS GLOBAL PROPERTY HOLDFAST_BACKENDS)
get_property(backend_packages GLOBAL PROPERTY HOLDFAST_BACKEND_PACKAGES)
get_target_property(library_type holdfast TYPE)
set(HOLDFAST_FIND_DEPENDENCIES "find_dependency(Threads)")
if(library_type STREQUAL "STATIC_LIBRARY")
  foreach(package IN LISTS backend_packages)
    string(APPEND HOLDFAST_FIND_DEPENDENCIES "\nfind_dependency(${package})")
  endforeach()
endif()
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/holdfast-config.cmake.in"
  "${PROJECT_BINARY_DIR}/holdfast-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/holdfast-config-version.cmake"
  COMPATIBILITY SameMinorVersion)  # SameMajorVersion from 1.0 on
install(FILES "${PROJECT_BINARY_DIR}/holdfast-config.cmake" "${PROJECT_BINARY_DIR}/holdfast-config-version.cmake"
  DESTINATION "${package_dir}" COMPONENT development)

# The .pc file finds its prefix from its own place, so the installed tree may be moved. An absolute libdir cannot.
set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(HOLDFAST_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/prefix/${pc_dir}" "/prefix")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(HOLDFAST_PC_PREFIX "\${pcfiledir}/${up}")
endif()
cmake_path(APPEND HOLDFAST_PC_LIBDIR "\${exec_prefix}" "${CMAKE_INSTALL_LIBDIR}")  # an absolute second path wins
cmake_path(APPEND HOLDFAST_PC_INCLUDEDIR "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")
if(library_type STREQUAL "STATIC_LIBRARY")
  set(HOLDFAST_PC_CFLAGS "-DHOLDFAST_STATIC_DEFINE")
endif()
get_property(pc_modules GLOBAL PROPERTY HOLDFAST_BACKEND_PKG_CONFIG)
list(JOIN pc_modules " " pc_modules)
if(library_type STREQUAL "STATIC_LIBRARY")
  set(HOLDFAST_PC_REQUIRES "Requires: ${pc_modules}")
  get_property(HOLDFAST_PC_LIBS GLOBAL PROPERTY HOLDFAST_BACKEND_PKG_CONFIG_LIBS)
  list(JOIN HOLDFAST_PC_LIBS " " HOLDFAST_PC_LIBS)
else()
  set(HOLDFAST_PC_REQUIRES)  # a shared library finds its own
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/holdfast.pc.in" "${PROJECT_BINARY_DIR}/holdfast.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/holdfast.pc" DESTINATION "${pc_dir}" COMPONENT development)

if(PROJECT_IS_TOP_LEVEL AND HOLDFAST_BUILD_CLI AND library_type STREQUAL "SHARED_LIBRARY")
  include(HoldfastPackages)
endif()
