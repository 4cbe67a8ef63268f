#include "backends/sqlite/mailbox.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/sqlite/failures.hpp"
#include "holdfast/error.hpp"

namespace holdfast::sqlite {
namespace {

constexpr int backlog = 4096;
constexpr auto pause = std::chrono::milliseconds(100);

PrivateDescriptor make_socket() {
  return PrivateDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

struct sockaddr_un address_of(const std::string& path) {
  struct sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), std::min(path.size() + 1, sizeof(address.sun_path) - 1));
  return address;
}

const struct sockaddr* generic(const struct sockaddr_un& address) {
  return reinterpret_cast<const struct sockaddr*>(&address);
}

/// Whoever could write to the directory could put mailboxes of their own into it, and whoever may enter it could connect
/// to ours.
base::FileDescriptor open_own_directory(const std::string& path) {
  if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    refuse(errno, "cannot create the directory '" + path + "'");
  base::FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!directory && (errno == ENOTDIR || errno == ELOOP)) {
    throw Refusal(Errc::store_failed,
                  "'" + path +
                      "', where a sqlite: store keeps its sockets, is not a directory but a file or "
                      "a symbolic link; remove it if you know where it comes from, or use another "
                      "path");
  }
  struct stat status{};
  if (!directory || ::fstat(directory.get(), &status) != 0) refuse(errno, "cannot open the directory '" + path + "'");
  if (status.st_uid != ::geteuid()) {
    throw Refusal(Errc::access_denied, "the directory '" + path + "' belongs to user " + std::to_string(status.st_uid) +
                                           ", and this process is user " + std::to_string(::geteuid()) +
                                           "; a sqlite: store serves one user: use another path");
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw Refusal(Errc::access_denied, "other users may enter the directory '" + path +
                                           "', which belongs to a sqlite: store; stop everything that uses the store "
                                           "and remove the directory: it is made anew");
  }
  return directory;
}

bool is_number(const char* name) {
  return *name != '\0' && std::string_view(name).find_first_not_of("0123456789") == std::string_view::npos;
}

/// Never removes what cannot be a mailbox of ours.
void remove_mailbox(int directory, const char* name) {
  struct stat status{};
  if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (S_ISSOCK(status.st_mode) && status.st_uid == ::geteuid()) ::unlinkat(directory, name, 0);
}

}  // namespace

Mailboxes::Mailboxes(const std::string& directory)
    : directory_(open_own_directory(directory)), path_("/proc/self/fd/" + std::to_string(directory_.get()) + "/") {}

std::string Mailboxes::path_of(ClientNumber client) const { return path_ + std::to_string(client); }

PrivateDescriptor Mailboxes::open(ClientNumber client) const {
  PrivateDescriptor listener = make_socket();
  if (!listener) refuse(errno, "cannot make a socket");
  const struct sockaddr_un address = address_of(path_of(client));
  remove(client);  // what an older database at the same path has left
  if (::bind(listener.get(), generic(address), sizeof(address)) != 0 || ::listen(listener.get(), backlog) != 0) {
    refuse(errno, "cannot open a socket in the directory of mailboxes beside the database");
  }
  return listener;
}

PrivateDescriptor Mailboxes::connect(ClientNumber client) const {
  PrivateDescriptor connection = make_socket();
  const struct sockaddr_un address = address_of(path_of(client));
  if (!connection || ::connect(connection.get(), generic(address), sizeof(address)) != 0) return {};
  return connection;
}

void Mailboxes::tell(ClientNumber client, std::span<const Message> messages) const {
  const PrivateDescriptor connection = connect(client);
  if (!connection) return;
  for (const Message& message : messages) {
    const std::string bytes = message.encoded();
    if (::send(connection.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
  }
}

void Mailboxes::remove(ClientNumber client) const { remove_mailbox(directory_.get(), std::to_string(client).c_str()); }

void Mailboxes::remove_all() const {
  const int copy = ::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(copy < 0 ? nullptr : ::fdopendir(copy), &::closedir);
  if (!entries) {
    if (copy >= 0) ::close(copy);
    return;
  }
  while (const struct dirent* entry = ::readdir(entries.get())) {
    if (is_number(entry->d_name)) remove_mailbox(directory_.get(), entry->d_name);
  }
}

Mailbox::Mailbox(spi::Loop& loop, const Mailboxes& mailboxes, ClientNumber client, OnMessage on_message)
    : loop_(loop),
      mailboxes_(mailboxes),
      client_(client),
      on_message_(std::move(on_message)),
      listener_(mailboxes.open(client)),
      listen_again_(loop, [this] { listen(); }) {
  listen();
}

Mailbox::~Mailbox() {
  for (const auto& [descriptor, connection] : connections_) loop_.unwatch(descriptor);
  loop_.unwatch(listener_.get());
  mailboxes_.remove(client_);
}

void Mailbox::listen() {
  try {
    loop_.watch(listener_.get(), {.readable = true}, [this](spi::Loop::Ready) { accept_connections(); });
  } catch (const Error&) {  // the system has no resources left: others find out by asking the database
    listen_again_.set(base::saturating_add(loop_.now(), pause));
  }
}

void Mailbox::accept_connections() {
  for (;;) {
    const ForkGate::Use use;
    PrivateDescriptor connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!connection) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) return;
      // No descriptors are left, and the next connection would keep the loop busy. Whoever wants one asks the database
      // after a while by itself.
      loop_.unwatch(listener_.get());
      listen_again_.set(base::saturating_add(loop_.now(), pause));
      return;
    }
    const int descriptor = connection.get();
    if (!read_messages(descriptor)) continue;
    try {
      loop_.watch(descriptor, {.readable = true}, [this, descriptor](spi::Loop::Ready) {
        if (read_messages(descriptor)) return;
        loop_.unwatch(descriptor);
        connections_.erase(descriptor);
      });
    } catch (const Error&) {  // whoever has made the connection sees it closed, and asks the database
      continue;
    }
    connections_.emplace(descriptor, std::move(connection));
  }
}

/// False when the other side has closed the connection.
bool Mailbox::read_messages(int connection) {
  std::array<char, Message::max_bytes> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): about to be written
  for (;;) {
    const ssize_t size = ::recv(connection, bytes.data(), bytes.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return true;
    if (size <= 0) return false;
    if (const auto message = Message::decode({bytes.data(), static_cast<std::size_t>(size)})) on_message_(*message);
  }
}

}  // namespace holdfast::sqlite
