# The warnings of every target in this tree. Never exported: a user's build keeps its own. They become errors only
# through CMAKE_COMPILE_WARNING_AS_ERROR, which the presets set.
add_library(holdfast_warnings INTERFACE)
target_compile_options(holdfast_warnings INTERFACE
  -Wall
  -Wextra
  -Wpedantic
  -Wcast-align
  -Wconversion
  -Wdouble-promotion
  -Wextra-semi
  -Wformat=2
  -Wimplicit-fallthrough
  -Wnon-virtual-dtor
  -Wold-style-cast
  -Woverloaded-virtual
  -Wshadow
  -Wsign-conversion
  -Wundef
  -Wunused)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # With optimization, GCC 12 reports overlaps and accesses out of bounds inside std::string's own operator+ and
  # assign.
  target_compile_options(holdfast_warnings INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()
