# CPack runs this between installing the components into its folder and packing them: adds what Debian wants in every
# package, a copyright and a changelog, and compresses the manual pages.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER "${component}" upper)
  set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  set(share "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share")
  set(docs "${share}/doc/${package}")

  file(COPY "${CPACK_HOLDFAST_SOURCE}/cmake/debian/copyright" DESTINATION "${docs}"
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
    DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, if it is set
  file(WRITE "${docs}/changelog" "holdfast (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(GLOB pages "${share}/man/man1/*.1")
  execute_process(COMMAND gzip --best --no-name --force "${docs}/changelog" ${pages} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
