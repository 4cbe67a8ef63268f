#include "kit/shared_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "holdfast/error.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::kit {
namespace {

TEST(SharedLibrary, IsTheFirstFileThatExists) {
  const auto library = SharedLibrary::load({"/nowhere/libm.so.6", "libm.so.6", "libc.so.6"});
  ASSERT_TRUE(library.has_value());
  EXPECT_EQ(library->file(), "libm.so.6");
  double (*cosine)(double) = nullptr;
  ASSERT_TRUE(library->find("cos", cosine));
  EXPECT_EQ(cosine(0.0), 1.0);
}

TEST(SharedLibrary, DoesNotHaveEveryFunction) {
  const auto library = SharedLibrary::load({"libm.so.6"});
  ASSERT_TRUE(library.has_value());
  double (*unknown)(double) = [](double x) { return x; };
  EXPECT_FALSE(library->find("holdfast_has_no_such_function", unknown));
  EXPECT_EQ(unknown, nullptr);
}

TEST(SharedLibrary, IsNothingIfNoFileExists) {
  EXPECT_FALSE(SharedLibrary::load({"/nowhere/libholdfast-nothing.so", "libholdfast-nothing.so"}).has_value());
}

TEST(SharedLibrary, SaysWhichFileCannotBeLoaded) {
  const test::TemporaryDirectory directory;
  const std::string file = (directory.path() / "libbroken.so").string();
  std::ofstream(file) << "not a library";
  try {
    SharedLibrary::load({file});
    FAIL() << "it is no library";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), make_error_code(Errc::unsupported));
    EXPECT_THAT(error.what(), testing::HasSubstr(file + " cannot be loaded: "));
  }
}

}  // namespace
}  // namespace holdfast::kit
