include_guard()

option(HOLDFAST_PRECOMPILE "Precompile the headers that most sources include; hides an include that is missing" OFF)

# What most sources of the library, of the tool and of the tests include.
set(HOLDFAST_COMMON_HEADERS
  <algorithm> <array> <atomic> <charconv> <chrono> <coroutine> <cstdint> <deque> <functional> <map> <memory> <mutex>
  <optional> <set> <span> <stop_token> <string> <string_view> <system_error> <thread> <unordered_map> <utility>
  <vector>)

# holdfast_precompile(<target> [<header>...]): with HOLDFAST_PRECOMPILE, the sources of <target> begin with these
# headers, compiled once, or with the common ones if none is given. A build without the option finds what a source has
# forgotten to include: script/package makes one.
function(holdfast_precompile target)
  if(HOLDFAST_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${HOLDFAST_COMMON_HEADERS} ${ARGN})
  endif()
endfunction()
