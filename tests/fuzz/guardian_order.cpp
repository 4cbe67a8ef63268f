#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

#include "cli/run/guardian_link.hpp"
#include "fuzz/targets.hpp"

namespace holdfast::fuzz {
namespace {

/// Sends the bytes as they are, with copies of a descriptor.
void send_raw(int link, std::string_view bytes, std::size_t copies) {
  constexpr std::size_t most = 8;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * most)> control{};
  std::array<int, most> descriptors{};
  descriptors.fill(link);
  iovec part{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (copies > 0) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(sizeof(int) * copies);
    cmsghdr* const first = CMSG_FIRSTHDR(&header);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(sizeof(int) * copies);
    std::memcpy(CMSG_DATA(first), descriptors.data(), sizeof(int) * copies);
  }
  require(::sendmsg(link, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()), "sent");
}

int lowest_free_descriptor() {
  const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(descriptor);
  return descriptor;
}

}  // namespace

void guardian_order(std::string_view input) {
  if (input.size() < 2) return;
  const std::size_t copies = static_cast<unsigned char>(input[0]) % 9U;
  input.remove_prefix(1);
  const int before = lowest_free_descriptor();
  {
    std::array<int, 2> ends{};
    require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0, "a pair of sockets");
    const base::FileDescriptor tool(ends[0]);
    const base::FileDescriptor guardian(ends[1]);
    send_raw(tool.get(), input, copies);
    cli::Order order;
    std::vector<base::FileDescriptor> descriptors;
    const bool taken = cli::receive_order(guardian.get(), order, descriptors);
    const bool whole = input.size() == sizeof(order) && copies <= cli::most_descriptors;
    require(taken == whole, "an order is taken if and only if it is whole");
    require(descriptors.size() <= cli::most_descriptors, "no more descriptors than there is room for");
    if (taken) require(descriptors.size() == copies, "no descriptor is lost");
    require(std::memchr(order.holder.data(), 0, order.holder.size()) != nullptr, "the holder's name ends");
  }
  require(lowest_free_descriptor() == before, "no descriptor is left open");
}

}  // namespace holdfast::fuzz
