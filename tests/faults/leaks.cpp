// What LeakSanitizer has to know about gRPC: see support/grpc_leaks.cpp. And ZooKeeper's library forgets the 24 bytes
// of an empty buffer, now and then when a connection breaks; on which way has not been found out.

// NOLINTBEGIN(bugprone-reserved-identifier): these are LeakSanitizer's names
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libcares\nleak:zookeeper_process"; }
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() { return "use_tls=0"; }
// NOLINTEND(bugprone-reserved-identifier)
