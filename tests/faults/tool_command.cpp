// The command that the campaign on the tool runs under a lock: `tool_command ROOM DIARY MILLISECONDS`.
//
// It takes the room, a file lock without waiting, and notes how long that was still taken. Its child and a grandchild
// that has left its parent, its group and its session, and ignores SIGTERM, have the room as well: the kernel frees it
// when the last of them is dead. After so many milliseconds it ends them, notes that it leaves, and ends.

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "faults/tool_diary.hpp"

namespace {

using namespace holdfast::faults;
using namespace std::chrono_literals;

[[noreturn]] void stay() {
  for (;;) ::pause();
}

/// Descendants that keep `room` open.
struct Family {
  pid_t child = -1;
  pid_t stray = -1;
};

Family have_a_family() {
  Family family;
  family.child = ::fork();
  if (family.child == 0) stay();
  int ends[2] = {};
  if (::pipe(ends) != 0) ::_exit(70);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::setsid();
    const pid_t stray = ::fork();
    if (stray == 0) {
      ::signal(SIGTERM, SIG_IGN);
      ::signal(SIGHUP, SIG_IGN);
      stay();
    }
    ::_exit(::write(ends[1], &stray, sizeof stray) == sizeof stray ? 0 : 70);
  }
  if (::read(ends[0], &family.stray, sizeof family.stray) != sizeof family.stray) ::_exit(70);
  ::waitpid(parent, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  return family;
}

milliseconds wait_for(int room) {
  if (::flock(room, LOCK_EX | LOCK_NB) == 0) return 0ms;
  const Moment began = now();
  while (::flock(room, LOCK_EX | LOCK_NB) != 0) {
    if (now() - began > 10s) break;
    std::this_thread::sleep_for(100us);
  }
  return std::max(std::chrono::ceil<milliseconds>(now() - began), milliseconds(1));
}

void note(int diary, const ToolNote& note) {
  const std::string line = note.line();
  if (::write(diary, line.data(), line.size()) != static_cast<ssize_t>(line.size())) ::_exit(70);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const token = std::getenv("HOLDFAST_TOKEN");
  if (argc != 4) return 64;
  const int room = ::open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const int diary = ::open(argv[2], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (room < 0 || diary < 0) return 70;
  ToolNote mine = {.room = std::filesystem::path(argv[1]).filename(),
                   .token = token == nullptr ? 0 : std::stoull(token),
                   .command = ::getpid(),
                   .at = now()};
  mine.taken = wait_for(room);
  note(diary, mine);
  const Family family = have_a_family();
  std::this_thread::sleep_for(milliseconds(std::stoi(argv[3])));
  ::kill(family.child, SIGKILL);
  ::kill(family.stray, SIGKILL);
  ::waitpid(family.child, nullptr, 0);
  mine.kind = ToolNote::Kind::leaves;
  mine.at = now();
  mine.taken = {};
  note(diary, mine);
  ::flock(room, LOCK_UN);
  return 0;
}
