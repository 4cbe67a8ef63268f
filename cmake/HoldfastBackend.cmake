include_guard()

# holdfast_backend(<name> [DEFAULT AUTO|ON|OFF] [PACKAGES <package>...] [BUILD_PACKAGES <package>...]
#   [PKG_CONFIG <module>...] [PKG_CONFIG_LIBS <flag>...])
#
# Declares one backend: the folder <name> beside the caller, the option HOLDFAST_WITH_<NAME> and the component
# <name> of find_package(holdfast). PACKAGES are what its client library needs, and PKG_CONFIG the same for users of
# pkg-config, PKG_CONFIG_LIBS what a static library needs that has no module; BUILD_PACKAGES are needed to build it, but not by whoever links the result. When a package is not found,
# AUTO leaves the backend out and says so; ON stops.
#
# The folder's CMakeLists.txt adds its sources to the target `holdfast` and links its packages PRIVATE.
# Appends to HOLDFAST_BACKENDS and HOLDFAST_BACKEND_PACKAGES in the caller's scope.
function(holdfast_backend name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DEFAULT" "PACKAGES;BUILD_PACKAGES;PKG_CONFIG;PKG_CONFIG_LIBS")
  if(NOT arg_DEFAULT)
    set(arg_DEFAULT AUTO)
  endif()

  string(TOUPPER "${name}" upper)
  set(option "HOLDFAST_WITH_${upper}")
  set(${option} ${arg_DEFAULT} CACHE STRING "Build the backend ${name}: AUTO (when its packages are found), ON or OFF")
  set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
  set(choice "${${option}}")
  if(NOT choice STREQUAL "AUTO" AND NOT choice)
    return()
  endif()

  foreach(package IN LISTS arg_PACKAGES arg_BUILD_PACKAGES)
    find_package(${package} QUIET GLOBAL)
    if(${package}_FOUND)
      continue()
    endif()
    if(choice STREQUAL "AUTO")
      message(STATUS "holdfast: backend ${name} is left out, package ${package} was not found")
      return()
    endif()
    message(FATAL_ERROR "holdfast: ${option} is ${choice} but package ${package} was not found")
  endforeach()

  add_subdirectory(${name})
  set(HOLDFAST_BACKENDS ${HOLDFAST_BACKENDS} ${name} PARENT_SCOPE)
  set(HOLDFAST_BACKEND_PACKAGES ${HOLDFAST_BACKEND_PACKAGES} ${arg_PACKAGES} PARENT_SCOPE)
  set(HOLDFAST_BACKEND_PKG_CONFIG ${HOLDFAST_BACKEND_PKG_CONFIG} ${arg_PKG_CONFIG} PARENT_SCOPE)
  set(HOLDFAST_BACKEND_PKG_CONFIG_LIBS ${HOLDFAST_BACKEND_PKG_CONFIG_LIBS} ${arg_PKG_CONFIG_LIBS} PARENT_SCOPE)
endfunction()
