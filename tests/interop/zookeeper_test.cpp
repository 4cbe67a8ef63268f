// A lock of `zookeeper:` is the one that Curator's InterProcessMutex and kazoo's Lock take.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "interop/counting.hpp"
#include "interop/other_process.hpp"
#include "support/forked_child.hpp"
#include "support/temporary_directory.hpp"
#include "support/zookeeper_server.hpp"

namespace holdfast::interop {
namespace {

using namespace std::chrono_literals;
using test::ChildReport;
using test::ForkedChild;

/// How another library is started: it takes a port, a command, a path and more.
class Other {
 public:
  virtual ~Other() = default;
  virtual std::string command() const = 0;
};

class Kazoo final : public Other {
 public:
  std::string command() const override { return "/usr/bin/python3 " HOLDFAST_INTEROP_SOURCES "/kazoo_client.py"; }
};

class Curator final : public Other {
 public:
  Curator() {
    const std::string compile = "javac -cp " + class_path() + " -d " + directory_.path().string() +
                                " " HOLDFAST_INTEROP_SOURCES "/CuratorClient.java";
    if (std::system(compile.c_str()) != 0) throw std::runtime_error("javac failed; script/setup installs it");
  }
  std::string command() const override {
    return "java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx128m -cp " + class_path() + " CuratorClient";
  }

 private:
  std::string class_path() const {
    std::string path = directory_.path().string();
    for (const char* jar : {"curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute",
                            "slf4j-api", "slf4j-nop", "guava", "netty-all", "commons-io"}) {
      path += ":/usr/share/java/" + std::string(jar) + ".jar";
    }
    return path;
  }

  const test::TemporaryDirectory directory_;
};

template <class Library>
class ZookeeperInterop : public testing::Test {
 protected:
  OtherProcess other(const std::string& words) const {
    return OtherProcess(library_.command() + " " + server_.port() + " " + words);
  }
  std::string url() const { return server_.url(); }

 private:
  const Library library_;
  test::ZookeeperServer server_;
};

using Libraries = testing::Types<Curator, Kazoo>;
TYPED_TEST_SUITE(ZookeeperInterop, Libraries);

TYPED_TEST(ZookeeperInterop, CountsTogetherWithHoldfast) {
  const Counting counting('o');
  std::vector<ForkedChild> children;
  for (int number = 0; number < 2; ++number) {
    children.emplace_back([&](ChildReport&) {
      Client client(this->url());
      Mutex mutex(client, "counted");
      while (!counting.enough()) {
        const std::scoped_lock lock(mutex);
        counting.count_one();
      }
    });
  }
  std::vector<OtherProcess> others;
  for (int number = 0; number < 2; ++number) {
    others.push_back(
        this->other("count /holdfast/counted " + counting.directory() + " " + std::to_string(turns_of_each_side)));
  }
  for (OtherProcess& process : others) EXPECT_TRUE(process.succeeds());
  for (ForkedChild& child : children) EXPECT_TRUE(child.succeeds());
  counting.expect_that_all_were_counted();
}

TYPED_TEST(ZookeeperInterop, IsRefusedWhileHoldfastHolds) {
  Client client(this->url());
  for (const bool shared : {false, true}) {
    SharedMutex mutex(client, "mine");
    Hold hold = shared ? mutex.acquire_shared() : mutex.acquire();
    EXPECT_EQ(this->other("try_lock /holdfast/mine").line(), "busy");
    EXPECT_EQ(hold.release(), Released::released);
  }
  EXPECT_EQ(this->other("try_lock /holdfast/mine").line(), "granted");
}

}  // namespace
}  // namespace holdfast::interop
