# Runs one package test; tests/package/CMakeLists.txt says with what. Always from an empty folder, so that nothing an
# earlier run has cached can make it pass.
file(REMOVE_RECURSE "${BUILD}")

set(configure ${CMAKE_COMMAND} -G Ninja -S "${SOURCE}" -B "${BUILD}" ${OPTIONS})
if(REFUSED)
  execute_process(COMMAND ${configure} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output
    ECHO_OUTPUT_VARIABLE ECHO_ERROR_VARIABLE)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")  # CMake wraps its messages
  string(FIND "${output}" "${REFUSED}" position)
  if(result EQUAL 0)
    message(FATAL_ERROR "configuring should have failed")
  elseif(position EQUAL -1)
    message(FATAL_ERROR "configuring failed, but without saying: ${REFUSED}")
  endif()
  return()
endif()

execute_process(COMMAND ${configure} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build "${BUILD}" --parallel 2 COMMAND_ERROR_IS_FATAL ANY)

if(RUN)
  execute_process(COMMAND "${BUILD}/${RUN}" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output STREQUAL "hello\n")
    message(FATAL_ERROR "${RUN} should print hello but printed: ${output}")
  endif()
endif()
