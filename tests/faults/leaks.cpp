// What other libraries forget to free. The one with which gRPC finds hosts: the name "localhost". ZooKeeper's: the 24
// bytes of an empty buffer, now and then when a connection breaks; on which way has not been found out.

extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier): LeakSanitizer's name
extern "C" const char* __lsan_default_suppressions() { return "leak:libcares\nleak:zookeeper_process"; }
