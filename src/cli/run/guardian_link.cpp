#include "cli/run/guardian_link.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace holdfast::cli {
namespace {

/// An order and room for descriptors beside it, as the system calls want them.
class Envelope {
 public:
  explicit Envelope(Order& order) : part_{.iov_base = &order, .iov_len = sizeof(order)} {
    header.msg_iov = &part_;
    header.msg_iovlen = 1;
    header.msg_control = control_.data();
    header.msg_controllen = control_.size();
  }
  Envelope(const Envelope&) = delete;
  Envelope& operator=(const Envelope&) = delete;

  msghdr header{};

 private:
  iovec part_;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * most_descriptors)> control_{};
};

}  // namespace

bool send_order(int link, const Order& order, std::span<const int> descriptors) {
  Order copy = order;
  Envelope envelope(copy);
  const std::size_t bytes = std::min(descriptors.size(), most_descriptors) * sizeof(int);
  if (bytes > 0) {
    cmsghdr* const control = CMSG_FIRSTHDR(&envelope.header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(control), descriptors.data(), bytes);
  }
  envelope.header.msg_controllen = bytes > 0 ? CMSG_SPACE(bytes) : 0;
  return ::sendmsg(link, &envelope.header, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(order));
}

bool receive_order(int link, Order& order, std::vector<base::FileDescriptor>& descriptors) {
  Envelope envelope(order);
  ssize_t size = 0;
  while ((size = ::recvmsg(link, &envelope.header, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  const cmsghdr* const control = CMSG_FIRSTHDR(&envelope.header);
  if (size > 0 && control != nullptr && control->cmsg_type == SCM_RIGHTS) {
    std::array<int, most_descriptors> received{};
    const std::size_t bytes = control->cmsg_len - CMSG_LEN(0);
    std::memcpy(received.data(), CMSG_DATA(control), bytes);
    for (std::size_t i = 0; i < bytes / sizeof(int); ++i) descriptors.emplace_back(received.at(i));
  }
  order.holder.back() = '\0';
  return size == static_cast<ssize_t>(sizeof(order)) && (envelope.header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
}

}  // namespace holdfast::cli
