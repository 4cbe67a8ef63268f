# Temporary, until the tree is complete: drops the files of a list that are not written yet, with a warning.
# Remove this file, its include() and the lines holdfast_planned(...) then; a missing file is an error again.
function(holdfast_planned list_name)
  foreach(file IN LISTS ${list_name})
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE path)
    if(EXISTS "${path}")
      list(APPEND present "${file}")
    else()
      message(WARNING "not written yet: ${path}")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
  endforeach()
  set(${list_name} ${present} PARENT_SCOPE)
endfunction()
