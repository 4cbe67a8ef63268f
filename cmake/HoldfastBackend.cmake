include_guard()

# holdfast_backend(<name> [DEFAULT AUTO|ON|OFF] [PACKAGES <package>...] [BUILD_PACKAGES <package>...]
#   [PKG_CONFIG <module>...] [PKG_CONFIG_LIBS <flag>...] URLS <form> <meaning> [<form> <meaning>]...)
#
# Declares one backend: the folder <name> beside the caller, the option HOLDFAST_WITH_<NAME> and the component
# <name> of find_package(holdfast). PACKAGES are what its client library needs, PKG_CONFIG is the same for users of
# pkg-config, and PKG_CONFIG_LIBS is what a static library needs that has no module there; BUILD_PACKAGES are needed to
# build the backend, but not by whoever links the result. When a package is not found, AUTO leaves the backend out and
# says so; ON stops. URLS are the rows of the manual page: each form of the backend's URLs, and what it means.
#
# The folder's CMakeLists.txt adds its sources to the target `holdfast` and links its packages PRIVATE. If it makes a
# target holdfast_<name>, that is a module which the library loads when the backend is first used: it is installed, and
# gets a Debian package of its own. If it makes a target holdfast_<name>_messages, that generates headers, which
# clang-tidy needs, too.
#
# Appends to HOLDFAST_BACKENDS, HOLDFAST_BACKEND_MODULES, HOLDFAST_BACKEND_URLS and HOLDFAST_BACKEND_PACKAGES (and the
# two for pkg-config) in the caller's scope.
function(holdfast_backend name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DEFAULT" "PACKAGES;BUILD_PACKAGES;PKG_CONFIG;PKG_CONFIG_LIBS;URLS")
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
  if(TARGET holdfast_${name})
    set(HOLDFAST_BACKEND_MODULES ${HOLDFAST_BACKEND_MODULES} ${name} PARENT_SCOPE)
  endif()
  if(TARGET holdfast_${name}_messages)
    add_dependencies(holdfast_generated_headers holdfast_${name}_messages)
  endif()
  while(arg_URLS)
    list(POP_FRONT arg_URLS form meaning)
    if(NOT meaning)
      message(FATAL_ERROR "holdfast_backend(${name}): URLS has a form without a meaning: ${form}")
    endif()
    string(APPEND HOLDFAST_BACKEND_URLS "      {\"${form}\", \"${meaning}\"},\n")
  endwhile()
  set(HOLDFAST_BACKEND_URLS "${HOLDFAST_BACKEND_URLS}" PARENT_SCOPE)
  set(HOLDFAST_BACKENDS ${HOLDFAST_BACKENDS} ${name} PARENT_SCOPE)
  set(HOLDFAST_BACKEND_PACKAGES ${HOLDFAST_BACKEND_PACKAGES} ${arg_PACKAGES} PARENT_SCOPE)
  set(HOLDFAST_BACKEND_PKG_CONFIG ${HOLDFAST_BACKEND_PKG_CONFIG} ${arg_PKG_CONFIG} PARENT_SCOPE)
  set(HOLDFAST_BACKEND_PKG_CONFIG_LIBS ${HOLDFAST_BACKEND_PKG_CONFIG_LIBS} ${arg_PKG_CONFIG_LIBS} PARENT_SCOPE)
endfunction()
