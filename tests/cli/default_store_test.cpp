#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "cli/store.hpp"
#include "cli/world.hpp"
#include "holdfast/error.hpp"

namespace holdfast::test {
namespace {

TEST(DefaultStore, IsBelowTheHomeOfThePasswordDatabase) {
  EXPECT_EQ(cli::default_file_of(1000, "/home/ann"), "/home/ann/.local/state/holdfast/locks.db");
  EXPECT_EQ(cli::default_file_of(1000, "/"), "/.local/state/holdfast/locks.db");
}

TEST(DefaultStore, OfRootIsTheSystems) { EXPECT_EQ(cli::default_file_of(0, "/root"), "/var/lib/holdfast/locks.db"); }

TEST(DefaultStore, NeedsAHome) {
  EXPECT_THROW(cli::default_file_of(1000, ""), Error);
  EXPECT_THROW(cli::default_file_of(1000, "relative"), Error);
}

TEST(Password, IsPutIntoTheUrlOfAStoreThatCanAskForOne) {
  ::setenv("HOLDFAST_PASSWORD", "p@/ w", 1);
  EXPECT_EQ(cli::choose_store({.url = "redis://ann@h1,h2/0"}).url, "redis://ann:p%40%2F%20w@h1,h2/0");
  EXPECT_EQ(cli::choose_store({.url = "redis://h?layout=plain"}).url, "redis://:p%40%2F%20w@h?layout=plain");
  EXPECT_EQ(cli::choose_store({.url = "redis+unix:/a.sock"}).url, "redis+unix:/a.sock?password=p%40%2F%20w");
  EXPECT_EQ(cli::choose_store({.url = "redis://ann:own@h"}).url, "redis://ann:own@h") << "the URL's own comes first";
  EXPECT_EQ(cli::choose_store({.url = "sqlite:/a.db"}).url, "sqlite:/a.db");
  ::unsetenv("HOLDFAST_PASSWORD");
}

class DefaultStoreFolders : public World {};

TEST_F(DefaultStoreFolders, AreMadeForTheirOwnerOnly) {
  const std::string file = folder / "new" / "state" / "locks.db";
  cli::prepare({.url = "sqlite:" + file, .default_file = file});
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder / "new" / "state").permissions(), perms::owner_all);
  EXPECT_EQ(std::filesystem::status(folder / "new").permissions(), perms::owner_all);
  EXPECT_NO_THROW(cli::prepare({.url = "sqlite:" + file, .default_file = file})) << "again";
}

TEST_F(DefaultStoreFolders, ThatCannotBeMadeAreAClearError) {
  const std::string file = "/proc/holdfast/locks.db";
  try {
    cli::prepare({.url = "sqlite:" + file, .default_file = file});
    FAIL() << "a folder in /proc";
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::access_denied);
    EXPECT_NE(std::string(error.what()).find("'/proc/holdfast'"), std::string::npos) << error.what();
  }
}

class PasswordFile : public World {};

TEST_F(PasswordFile, ComesBeforeTheUrlsOwn) {
  std::ofstream(folder / "password") << "secret\r\nmore\n";
  EXPECT_EQ(cli::choose_store({.url = "redis://ann:own@h", .password_file = folder / "password"}).url,
            "redis://ann:secret@h");
  EXPECT_THROW(cli::choose_store({.url = "redis://h", .password_file = folder / "none"}), Error);
}

TEST(DefaultStore, IsNotUsedWhenAStoreIsNamed) {
  ::setenv("HOLDFAST_URL", "memory:from-environment", 1);
  EXPECT_EQ(cli::choose_store({}).url, "memory:from-environment");
  EXPECT_EQ(cli::choose_store({}).default_file, "");
  EXPECT_EQ(cli::choose_store({.url = "memory:flag"}).url, "memory:flag");
  EXPECT_THROW(cli::choose_store({.url = ""}), Error)
      << "an empty variable in a script must not mean this host's store";
  ::unsetenv("HOLDFAST_URL");
  const cli::Store chosen = cli::choose_store({});
  EXPECT_EQ(chosen.url, "sqlite:" + chosen.default_file);
}

}  // namespace
}  // namespace holdfast::test
