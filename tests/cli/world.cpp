#include "cli/world.hpp"

#include <signal.h>

#include <algorithm>

#include "holdfast/client.hpp"

namespace holdfast::test {

World::World() : folder(new_folder()), url("sqlite:" + (folder / "locks.db").string()) {}

World::~World() {
  processes_.clear();
  for (const auto& [file, pid] : pids_) {
    if (alive(pid)) ::kill(pid, SIGKILL);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

std::vector<std::string> World::subcommand(const std::string& subcommand, const std::string& name,
                                           const std::vector<std::string>& flags, const std::string& script) const {
  std::vector<std::string> all = tool({subcommand, name});
  all.insert(all.end(), flags.begin(), flags.end());
  for (const std::string& word : {std::string("--"), std::string("sh"), std::string("-c")}) all.push_back(word);
  all.push_back("dir='" + folder.string() + "'; export dir\n" + script);
  return all;
}

Process& World::start(std::vector<std::string> words) {
  return *processes_.emplace_back(std::make_unique<Process>(std::move(words), with_store()));
}

Process& World::start_run(const std::string& name, const std::vector<std::string>& flags, const std::string& script) {
  return start(subcommand("run", name, flags, script));
}

Finished World::run_script(const std::string& name, const std::vector<std::string>& flags, const std::string& script) {
  return start_run(name, flags, script).finish();
}

pid_t World::pid_in(const std::string& file) {
  // A shell writes the number and the newline in one go, but makes the file before.
  if (!eventually([&] { return content(file).ends_with('\n'); })) {
    ADD_FAILURE() << "nobody wrote " << file;
    return -1;
  }
  return pids_[file] = std::stoi(content(file));
}

bool World::appears(const std::string& file) {
  return eventually([&] { return std::filesystem::exists(folder / file); });
}

bool World::all_end(const std::vector<std::string>& files) {
  std::vector<pid_t> pids;
  for (const std::string& file : files) pids.push_back(pid_in(file));
  return eventually(std::chrono::seconds(5), [&] { return std::none_of(pids.begin(), pids.end(), alive); });
}

bool World::becomes_free(const std::string& name) {
  const Client client(url);
  return eventually([&] { return !client.show(name); });
}

bool World::gets_a_waiter(const std::string& name) {
  const Client client(url);
  return eventually([&] {
    const auto lock = client.show(name);
    return lock && !lock->waiters.empty();
  });
}

}  // namespace holdfast::test
