// The addresses of a host: real sockets on loopback, and time that passes when the test says so.

#include "kit/net/connector.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/black_hole.hpp"
#include "support/polling_loop.hpp"

namespace holdfast::kit {
namespace {

using base::FileDescriptor;
using namespace std::chrono_literals;

SocketAddress address_of(const FileDescriptor& socket) {
  SocketAddress address;
  address.length = sizeof address.storage;
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address.storage), &address.length), 0);
  return address;
}

/// Bound to a port of its own on 127.0.0.1; whoever connects is refused until it listens.
FileDescriptor bound() {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return socket;
}

FileDescriptor listening(int backlog = 16) {
  FileDescriptor socket = bound();
  EXPECT_EQ(::listen(socket.get(), backlog), 0);
  return socket;
}

/// Whether a connection to it came and waits to be accepted.
bool is_knocked_at(const FileDescriptor& listener) {
  pollfd descriptor = {listener.get(), POLLIN, 0};
  return ::poll(&descriptor, 1, 0) == 1;
}

SocketAddress address_of(const test::BlackHole& hole) {
  sockaddr_in in = {};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  in.sin_port = htons(static_cast<std::uint16_t>(std::stoi(hole.port())));
  SocketAddress address;
  std::memcpy(&address.storage, &in, sizeof in);
  address.length = sizeof in;
  return address;
}

class ConnectorTest : public testing::Test {
 protected:
  void connect(std::vector<SocketAddress> addresses, base::Duration patience = 3s) {
    began_ = loop_.now();
    connector_.emplace(loop_, std::move(addresses), "a server", loop_.now() + patience,
                       [this](spi::Result<FileDescriptor> result) {
                         result_ = std::move(result);
                         took_ = loop_.now() - began_;
                         connector_.reset();
                       });
    EXPECT_FALSE(result_) << "never inside the constructor";
    loop_.run();
  }
  bool is_done() const { return result_.has_value(); }
  /// Real time for the kernel; none passes for the loop.
  bool becomes_done() {
    return loop_.poll_until([&] { return is_done(); });
  }
  std::uint16_t port_reached() {
    if (!result_ || !result_->ok()) return 0;
    sockaddr_in peer = {};
    socklen_t length = sizeof peer;
    EXPECT_EQ(::getpeername(result_->value().get(), reinterpret_cast<sockaddr*>(&peer), &length), 0);
    return ntohs(peer.sin_port);
  }
  static std::uint16_t port_of(const SocketAddress& address) {
    sockaddr_in in = {};
    std::memcpy(&in, &address.storage, sizeof in);
    return ntohs(in.sin_port);
  }

  test::PollingLoop loop_;
  base::Instant began_ = {};
  base::Duration took_ = {};
  std::optional<spi::Result<FileDescriptor>> result_;
  std::optional<Connector> connector_;
};

TEST_F(ConnectorTest, ReachesTheOnlyAddress) {
  const FileDescriptor server = listening();
  connect({address_of(server)});
  ASSERT_TRUE(becomes_done());
  EXPECT_EQ(port_reached(), port_of(address_of(server)));
  EXPECT_EQ(loop_.watched(), 0U);
}

TEST_F(ConnectorTest, GoesOnBesideABlackHoleAfterAMoment) {
  const test::BlackHole hole;
  const FileDescriptor server = listening();
  connect({address_of(hole), address_of(server)});
  loop_.advance(249ms);
  loop_.poll(50ms);
  EXPECT_FALSE(is_done());
  EXPECT_FALSE(is_knocked_at(server)) << "the first address has a moment for itself";
  loop_.advance(1ms);
  ASSERT_TRUE(becomes_done());
  EXPECT_EQ(port_reached(), port_of(address_of(server)));
  EXPECT_EQ(took_, 250ms);
  EXPECT_EQ(loop_.watched(), 0U) << "the others are closed";
}

TEST_F(ConnectorTest, BeginsAllAddressesInTheFirstHalfOfItsTime) {
  const test::BlackHole hole;
  const FileDescriptor server = listening();
  std::vector<SocketAddress> addresses(40, address_of(hole));
  addresses.push_back(address_of(server));
  connect(std::move(addresses));
  loop_.advance(1500ms);
  ASSERT_TRUE(becomes_done());
  EXPECT_EQ(port_reached(), port_of(address_of(server)));
}

TEST_F(ConnectorTest, GoesOnAtOnceAfterARefusal) {
  const FileDescriptor closed = bound();
  const FileDescriptor server = listening();
  connect({address_of(closed), address_of(closed), address_of(server)});
  ASSERT_TRUE(becomes_done());
  EXPECT_EQ(port_reached(), port_of(address_of(server)));
  EXPECT_EQ(took_, 0ms);
}

TEST_F(ConnectorTest, ListensToTheFirstAddressWhileTheNextOneIsTried) {
  std::optional<test::BlackHole> hole(std::in_place);
  const FileDescriptor late = bound();
  connect({address_of(*hole), address_of(late), address_of(*hole)});
  EXPECT_EQ(loop_.watched(), 1U);
  loop_.advance(250ms);
  ASSERT_TRUE(loop_.poll_until([&] { return loop_.watched() == 2; })) << "refused, and the third began at once";
  EXPECT_FALSE(is_done());
}

TEST_F(ConnectorTest, EndsAtItsDeadline) {
  const test::BlackHole hole;
  connect({address_of(hole), address_of(hole)});
  loop_.advance(2999ms);
  EXPECT_FALSE(is_done());
  loop_.advance(1ms);
  ASSERT_TRUE(is_done());
  EXPECT_EQ(result_->failure().code, Errc::unreachable);
  EXPECT_EQ(result_->failure().detail, "a server accepted no connection in time");
  EXPECT_EQ(loop_.watched(), 0U);
}

TEST_F(ConnectorTest, SaysWhyNobodyCouldBeReached) {
  const FileDescriptor closed = bound();
  connect({address_of(closed), address_of(closed)});
  ASSERT_TRUE(becomes_done());
  EXPECT_EQ(result_->failure().code, Errc::unreachable);
  EXPECT_EQ(result_->failure().detail, "cannot connect to a server: Connection refused");
  result_.reset();
  connect({});
  ASSERT_TRUE(is_done());
  EXPECT_EQ(result_->failure().code, Errc::unreachable);
}

TEST_F(ConnectorTest, GivesUpWhenDestroyed) {
  const test::BlackHole hole;
  connect({address_of(hole)});
  connector_.reset();
  EXPECT_EQ(loop_.watched(), 0U);
  loop_.advance(10s);
  EXPECT_FALSE(is_done());
}

TEST_F(ConnectorTest, FailsWhereNothingCanBeWatched) {
  const FileDescriptor server = listening();
  loop_.refuses_to_watch = true;
  connect({address_of(server), address_of(server)});
  ASSERT_TRUE(is_done());
  EXPECT_EQ(result_->failure().code, Errc::exhausted);
}

TEST_F(ConnectorTest, FailsWhereThereIsNoDescriptorLeft) {
  const FileDescriptor server = listening();
  // The sanitizer opens descriptors of its own to look at an object of a type that it has not seen: let it see all that
  // is used here, also for a failure.
  const FileDescriptor refuses = bound();
  connect({address_of(refuses)});
  ASSERT_TRUE(becomes_done());
  result_.reset();
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  connect({address_of(server)});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(is_done());
  EXPECT_EQ(result_->failure().code, Errc::exhausted);
}

TEST(HostAddressesTest, AlternateFamiliesAndKeepTheirOrder) {
  std::vector<SocketAddress> addresses;
  for (const int family : {AF_INET6, AF_INET6, AF_INET6, AF_INET, AF_INET}) {
    SocketAddress address;
    address.storage.ss_family = static_cast<sa_family_t>(family);
    address.length = static_cast<socklen_t>(addresses.size());
    addresses.push_back(address);
  }
  std::vector<socklen_t> order;
  for (const SocketAddress& address : with_alternating_families(addresses)) order.push_back(address.length);
  EXPECT_EQ(order, (std::vector<socklen_t>{0, 3, 1, 4, 2}));
  EXPECT_TRUE(with_alternating_families({}).empty());
}

TEST(HostAddressesTest, OfANumberNeedNobodysHelp) {
  EXPECT_EQ(HostAddresses::of_number("127.0.0.1", "6379").addresses.size(), 1U);
  EXPECT_EQ(HostAddresses::of_number("::1", "6379").addresses.size(), 1U);
  const HostAddresses name = HostAddresses::of_number("localhost", "6379");
  EXPECT_NE(name.error, 0);
  EXPECT_FALSE(name.complaint().empty());
}

}  // namespace
}  // namespace holdfast::kit
