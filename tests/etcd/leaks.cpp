// The library with which gRPC finds hosts forgets to free the name "localhost".

extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier): LeakSanitizer's name
extern "C" const char* __lsan_default_suppressions() { return "leak:libcares"; }
