#include "faults/fleet.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "faults/contender.hpp"
#include "support/eventually.hpp"

namespace holdfast::faults {

Fleet::Fleet(Mapping<Arena>& arena, std::size_t slots) : arena_(arena), current_(slots) {
  for (std::size_t slot = 0; slot < slots; ++slot) start(slot);
}

Fleet::~Fleet() { kill_everybody(); }

void Fleet::start(std::size_t slot) {
  Life life;
  life.slot = slot;
  // Not 3 and 4: dup2() onto itself would leave close-on-exec set.
  const int arena = fcntl(arena_.fd(), F_DUPFD_CLOEXEC, 10);
  const int log = fcntl(life.log.fd(), F_DUPFD_CLOEXEC, 10);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, arena, arena_fd);
  posix_spawn_file_actions_adddup2(&actions, log, log_fd);
  std::string program = "/proc/self/exe";
  std::string mode(contender_argument);
  std::string where = std::to_string(slot);
  std::string number = std::to_string(lives_.size());
  std::array<char*, 5> arguments = {program.data(), mode.data(), where.data(), number.data(), nullptr};
  arena_->stop_in_section[slot] = false;
  life.started = now();
  const int error = posix_spawn(&life.pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(arena);
  close(log);
  if (error != 0) throw std::system_error(error, std::generic_category(), "posix_spawn");
  current_[slot] = lives_.size();
  lives_.push_back(std::move(life));
}

void Fleet::kill(Life& life) {
  if (reap(life, WNOHANG)) return;  // it died by itself, which is told as such
  life.killed = now();
  ::kill(life.pid, SIGKILL);
  while (!reap(life, 0)) {
  }
}

void Fleet::replace(std::size_t slot) {
  kill(at(slot));
  start(slot);
}

void Fleet::stop(std::size_t slot) {
  Life& life = at(slot);
  if (reap(life, WUNTRACED | WNOHANG)) return;  // it died by itself: its pid may be somebody else's soon
  life.pauses.push_back({.from = now()});
  ::kill(life.pid, SIGSTOP);
  while (!life.standing_still && !reap(life, WUNTRACED)) {
  }
}

void Fleet::resume(std::size_t slot) {
  Life& life = at(slot);
  life.standing_still = false;
  if (life.gone != never) return;
  ::kill(life.pid, SIGCONT);
  if (!life.pauses.empty()) life.pauses.back().until = now();
}

bool Fleet::has_stopped_itself(std::size_t slot) {
  Life& life = at(slot);
  if (life.standing_still || reap(life, WUNTRACED | WNOHANG) || !life.standing_still) return false;
  life.pauses.push_back({.from = now()});  // its own note says when it began
  return true;
}

bool Fleet::reap(Life& life, int options) {
  if (life.gone != never) return true;
  int status = 0;
  if (waitpid(life.pid, &status, options) != life.pid) return false;
  if (WIFSTOPPED(status)) {
    life.standing_still = true;
    return false;
  }
  life.gone = now();
  const bool ours = life.killed != never && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (!ours && WIFSIGNALED(status)) life.death = "killed by signal " + std::to_string(WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) life.death = "exit code " + std::to_string(WEXITSTATUS(status));
  return true;
}

bool Fleet::finish(milliseconds bound) {
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    arena_->stop_in_section[slot] = false;
    if (has_stopped_itself(slot) || at(slot).standing_still) resume(slot);
  }
  arena_->finish = true;
  return test::eventually(bound, [this] {
    bool all = true;
    for (std::size_t slot = 0; slot < slots(); ++slot) {
      if (has_stopped_itself(slot)) resume(slot);  // it had begun to before it was told not to
      all = all && at(slot).gone != never;
    }
    return all;
  });
}

void Fleet::kill_everybody() {
  for (Life& life : lives_) {
    if (life.gone == never) kill(life);
  }
}

}  // namespace holdfast::faults
