// What other libraries forget to free. The one with which gRPC finds hosts: the name "localhost". ZooKeeper's: the 24
// bytes of an empty buffer, when a connection breaks while a request is being sent.

extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier): LeakSanitizer's name
extern "C" const char* __lsan_default_suppressions() { return "leak:libcares\nleak:zookeeper_process"; }
