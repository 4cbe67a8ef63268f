// Tells LeakSanitizer which leaks of the libraries we use are known: tests/leak-suppressions lists them. Every test
// program has this; the tool is told by its environment (test::known_leaks).

// NOLINTBEGIN(bugprone-reserved-identifier): these are LeakSanitizer's names
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() {
  return "print_suppressions=0:suppressions=" HOLDFAST_LEAK_SUPPRESSIONS;
}
// NOLINTEND(bugprone-reserved-identifier)
