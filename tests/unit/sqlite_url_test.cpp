#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "backends/sqlite/backend.hpp"
#include "holdfast/client.hpp"
#include "holdfast/mutex.hpp"
#include "support/errors.hpp"
#include "support/manual_loop.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::sqlite {
namespace {

struct Deaf final : spi::ClaimEvents {
  void granted(const LockName&, LockKind, spi::ClaimId, const spi::ClaimAnswer&) override {}
  void check(const LockName&, LockKind, spi::ClaimId) override {}
};

std::optional<Error> refusal_of(const std::string& url) {
  test::ManualLoop loop;
  Deaf events;
  return test::error_of([&] { factory().open(base::Url::parse(url), {.loop = loop, .events = events}); });
}

TEST(SqliteUrl, IsRefusedIfItIsOdd) {
  struct Case {
    const char* url;
    const char* hint;
  };
  for (const auto& [url, hint] : {Case{"sqlite:", "absolute path"},
                                  {"sqlite:relative.db", "absolute path"},
                                  {"sqlite:./relative.db", "absolute path"},
                                  {"sqlite://host/locks.db", "absolute path"},
                                  {"sqlite:////locks.db", "absolute path"},
                                  {"sqlite:/", "not of a directory"},
                                  {"sqlite:/tmp/", "not of a directory"},
                                  {"sqlite:/tmp/directory%2F", "not of a directory"},
                                  {"sqlite:/tmp/locks.db?mode=ro", "no options"},
                                  {"sqlite:/tmp/locks.db?a=1&b=2", "no options"},
                                  {"sqlite:/tmp/100%.db", "hexadecimal"},
                                  {"sqlite:/tmp/locks%00.db", "NUL"}}) {
    const auto error = refusal_of(url);
    ASSERT_TRUE(error) << url;
    EXPECT_EQ(error->errc(), Errc::bad_url) << url;
    EXPECT_NE(std::string(error->what()).find(hint), std::string::npos) << url << ": " << error->what();
  }
}

TEST(SqliteUrl, TouchesNothingBeforeTheFirstRequest) {
  const test::TemporaryDirectory directory;
  EXPECT_FALSE(refusal_of("sqlite:" + (directory.path() / "locks.db").string()));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(SqliteUrl, IsDecoded) {
  const test::TemporaryDirectory directory;
  Client client("sqlite:" + directory.path().string() + "/a%20b%3Fc%25.db");
  Mutex mutex(client, "name");
  mutex.lock();
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "a b?c%.db"));
  Client spelled("SQLITE://" + directory.path().string() + "/%61 b%3fc%25.db");
  EXPECT_FALSE(Mutex(spelled, "name").try_lock()) << "the same file, spelled in another way";
  mutex.unlock();
}

TEST(SqliteUrl, OfALinkIsTheStoreItself) {
  const test::TemporaryDirectory directory;
  Client client("sqlite:" + (directory.path() / "locks.db").string());
  Mutex mutex(client, "name");
  mutex.lock();
  std::filesystem::create_symlink("locks.db", directory.path() / "link.db");
  Client linked("sqlite:" + (directory.path() / "link.db").string());
  EXPECT_FALSE(Mutex(linked, "name").try_lock());
  mutex.unlock();
}

TEST(SqliteUrl, OfADirectoryIsRefusedByTheFirstRequest) {
  const test::TemporaryDirectory directory;
  Client client("sqlite:" + directory.path().string());
  Mutex mutex(client, "name");
  EXPECT_EQ(test::errc_of([&] { mutex.lock(); }), Errc::store_failed);
}

}  // namespace
}  // namespace holdfast::sqlite
