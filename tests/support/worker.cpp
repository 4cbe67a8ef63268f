#include "support/worker.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "holdfast/error.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/semaphore.hpp"
#include "holdfast/shared_mutex.hpp"
#include "support/eventually.hpp"
#include "support/fenced_file.hpp"
#include "support/id_file.hpp"
#include "support/peer.hpp"
#include "support/recorder.hpp"

namespace holdfast::test {

using std::chrono::milliseconds;

namespace {

const char* word_for(Released outcome) {
  switch (outcome) {
    case Released::released: return "released";
    case Released::not_held: return "not_held";
    case Released::in_doubt: return "in_doubt";
  }
  return "?";
}

/// Reads, lets others in, writes back: loses updates unless somebody excludes the others.
void add_one(const std::string& file) {
  std::uint64_t number = 0;
  std::ifstream(file) >> number;
  std::this_thread::yield();
  std::ofstream(file, std::ios::trunc) << number + 1;
}

/// A forked child that lives on when this process is gone; for a minute, should nobody end it.
pid_t leave_child() {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(60);
  while (true) pause();
}

}  // namespace

Worker::Worker(const std::string& url) : client_(url, {.label = "worker"}) {}

std::string Worker::answer(const std::string& command) {
  try {
    return execute(command);
  } catch (const Error& error) {
    return "error " + std::to_string(static_cast<int>(error.errc())) + " " + error.what();
  }
}

std::string Worker::execute(const std::string& command) {
  std::istringstream words(command);
  std::string verb;
  std::string name;
  words >> verb >> name;

  if (verb == "acquire") {
    std::int64_t ttl = 0;
    std::int64_t wait = 0;
    std::int64_t lock_delay = 0;
    words >> ttl >> wait >> lock_delay;
    Mutex mutex(client_, name, {.ttl = milliseconds(ttl), .lock_delay = milliseconds(lock_delay), .reason = "worker"});
    return keep(name, mutex.try_acquire_for(milliseconds(wait)));
  }
  if (verb == "share") {
    std::int64_t ttl = 0;
    std::int64_t wait = 0;
    words >> ttl >> wait;
    SharedMutex mutex(client_, name, {.ttl = milliseconds(ttl), .reason = "worker"});
    return keep(name, mutex.try_acquire_shared_for(milliseconds(wait)));
  }
  if (verb == "take") {
    std::uint32_t count = 0;
    std::uint32_t total = 0;
    std::int64_t ttl = 0;
    std::int64_t wait = 0;
    words >> count >> total >> ttl >> wait;
    Semaphore semaphore(client_, name, total, {.ttl = milliseconds(ttl), .reason = "worker"});
    return keep(name, semaphore.try_acquire_for(milliseconds(wait), count));
  }
  if (verb == "release") return word_for(holds_.at(name).release());
  if (verb == "valid") return holds_.at(name).valid() ? "yes" : "no";
  if (verb == "await_loss") {
    const auto stop = holds_.at(name).stop_token();
    return eventually([&] { return stop.stop_requested(); }) ? "lost" : "held";
  }
  if (verb == "await_request") {
    const auto requests = std::make_shared<Recorder<std::string>>();
    holds_.at(name).on_release_request([requests](const ReleaseRequest& request) { requests->add(request.reason); });
    return requests->reaches(1) ? "asked " + requests->all().front() : "not_asked";
  }
  if (verb == "holders") {
    const auto status = client_.show(name);
    return std::to_string(status ? status->holders.size() : 0);
  }
  if (verb == "count") {
    std::string file;
    int rounds = 0;
    words >> file >> rounds;
    Mutex mutex(client_, name);
    for (int round = 0; round < rounds; ++round) {
      const std::scoped_lock lock(mutex);
      add_one(file);
    }
    return "counted";
  }
  if (verb == "write" || verb == "write_late") {
    std::string file;
    words >> file;
    const Hold& hold = holds_.at(name);
    if (verb == "write_late") {
      if (!hold.valid()) return "not_valid";
      raise(SIGSTOP);  // to this thread: with kill() it might run on for a while
    }
    return FencedFile(file).write(hold.token().value()) ? "accepted" : "refused";
  }
  if (verb == "fork") return std::to_string(leave_child());
  if (verb == "exit") _exit(0);
  if (verb == "mint") return mint(name, words);
  if (verb == "close") {
    snowflakes_.erase(name);
    return "closed";
  }
  if (verb == "identity") return client_.identity().id;
  throw std::invalid_argument("a worker does not know the command '" + command + "'");
}

std::string Worker::mint(const std::string& pool, std::istream& words) {
  std::uint32_t workers = 0;
  std::int64_t window = 0;
  std::uint64_t count = 0;
  std::string path;
  words >> workers >> window >> count >> path;
  auto& snowflake = snowflakes_[pool];
  if (!snowflake) {
    ids::SnowflakeOptions options = {.workers = workers, .window = milliseconds(window)};
    options.max_ahead = options.window / 2;
    snowflake = std::make_unique<ids::Snowflake>(client_, pool, std::move(options));
  }
  const IdFile file(path);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto id = snowflake->next_for(patience);
    if (!id) return "timed_out";
    file.add(*id);
  }
  return "minted";
}

std::string Worker::keep(const std::string& name, std::optional<Hold> hold) {
  if (!hold) return "timed_out";
  const Token token = hold->token();
  holds_.insert_or_assign(name, std::move(*hold));
  return "granted " + to_string(token);
}

bool is_worker(int argc, char** argv) { return argc == 2 && std::string_view(argv[1]) == worker_argument; }

void run_worker() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string line;
  std::getline(std::cin, line);
  Worker worker(line);
  while (std::getline(std::cin, line)) std::cout << worker.answer(line) << std::endl;
  _exit(0);
}

}  // namespace holdfast::test
