# The manual page and the completions: the built tool prints them.
set(generated "${CMAKE_CURRENT_BINARY_DIR}/generated")
set(tool_files)

# holdfast_tool_file(<file> <folder> <argument>...): what the tool prints, given these arguments, is installed as
# <folder>/<file>.
function(holdfast_tool_file file folder)
  set(path "${generated}/${folder}/${file}")
  add_custom_command(OUTPUT "${path}" DEPENDS holdfast_tool VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory "${generated}/${folder}"
    COMMAND holdfast_tool ${ARGN} > "${path}")
  install(FILES "${path}" DESTINATION "${folder}" COMPONENT tool)
  set(tool_files ${tool_files} "${path}" PARENT_SCOPE)
endfunction()

holdfast_tool_file(holdfast.1 "${CMAKE_INSTALL_MANDIR}/man1" help --man)
holdfast_tool_file(holdfast "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" completion bash)
holdfast_tool_file(_holdfast "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions" completion zsh)
holdfast_tool_file(holdfast.fish "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" completion fish)
add_custom_target(holdfast_tool_files ALL DEPENDS ${tool_files})
