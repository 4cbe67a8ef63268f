# ZooKeeper's C library for programs with a loop of their own, as an archive: the shared library would be loaded by every
# program, whatever store it uses. Result: ZooKeeper_FOUND. Link `-l:libzookeeper_st.a`.
find_path(ZOOKEEPER_INCLUDE_DIR zookeeper/zookeeper.h)
find_library(ZOOKEEPER_LIBRARY libzookeeper_st.a)
mark_as_advanced(ZOOKEEPER_INCLUDE_DIR ZOOKEEPER_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZooKeeper REQUIRED_VARS ZOOKEEPER_LIBRARY ZOOKEEPER_INCLUDE_DIR)
