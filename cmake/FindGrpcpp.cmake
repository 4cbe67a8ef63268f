# gRPC for C++, with the light runtime of its messages and their compiler. (Not its own package configuration, which
# wants all that it was built from.) Result: Grpcpp_FOUND and the variables below.
find_path(GRPCPP_INCLUDE_DIR grpcpp/grpcpp.h)
find_library(GRPCPP_LIBRARY grpc++)
find_library(GRPC_LIBRARY grpc)
find_library(PROTOBUF_LITE_LIBRARY protobuf-lite)
find_program(HOLDFAST_PROTOC protoc)
mark_as_advanced(GRPCPP_INCLUDE_DIR GRPCPP_LIBRARY GRPC_LIBRARY PROTOBUF_LITE_LIBRARY HOLDFAST_PROTOC)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Grpcpp
  REQUIRED_VARS GRPCPP_LIBRARY GRPC_LIBRARY PROTOBUF_LITE_LIBRARY GRPCPP_INCLUDE_DIR HOLDFAST_PROTOC)
