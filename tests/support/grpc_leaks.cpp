// What LeakSanitizer has to know about gRPC; for every test program that uses etcd (holdfast_grpc_leaks).
//
// The library with which it finds hosts forgets to free the name "localhost". And it has variables of its own for each
// thread in a module that is loaded late: LeakSanitizer (that of GCC 12) crashes now and then when it looks at those of
// a thread that has ended ("Tracer caught signal 11"), so it is not to look at any.

// NOLINTBEGIN(bugprone-reserved-identifier): these are LeakSanitizer's names
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libcares"; }
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() { return "use_tls=0"; }
// NOLINTEND(bugprone-reserved-identifier)
