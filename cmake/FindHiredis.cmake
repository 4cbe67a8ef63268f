# The package configuration that Debian 12 ships with libhiredis-dev does not work (its version file is broken).
# Result: Hiredis_FOUND. Link `hiredis`.
find_path(HIREDIS_INCLUDE_DIR hiredis/read.h)
find_library(HIREDIS_LIBRARY hiredis)
mark_as_advanced(HIREDIS_INCLUDE_DIR HIREDIS_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hiredis REQUIRED_VARS HIREDIS_LIBRARY HIREDIS_INCLUDE_DIR)
