#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "cli/tool.hpp"

namespace holdfast::test {

/// A case's own folder, with a store in it. Processes that a command wrote the pid of into that folder are ended with
/// the case, however it went.
class World : public testing::Test {
 protected:
  World();
  ~World() override;

  /// How the tool is started, so that it finds the store.
  Start with_store() const { return {.environment = {"HOLDFAST_URL=" + url}}; }
  /// `holdfast run NAME [flags] -- sh -c SCRIPT`, in the background; the script's `$dir` is the case's folder.
  Process& start_run(const std::string& name, const std::vector<std::string>& flags, const std::string& script);
  /// Any program, in the background, so that it finds the store.
  Process& start(std::vector<std::string> words);
  /// `holdfast SUBCOMMAND NAME [flags] -- sh -c SCRIPT`.
  std::vector<std::string> subcommand(const std::string& subcommand, const std::string& name,
                                      const std::vector<std::string>& flags, const std::string& script) const;
  /// As start_run(), to its end.
  Finished run_script(const std::string& name, const std::vector<std::string>& flags, const std::string& script);

  /// The pid that a script wrote to `$dir/FILE`; waits until it is there.
  pid_t pid_in(const std::string& file);
  /// Whether a file of the case's folder is there, sooner or later.
  bool appears(const std::string& file);
  std::string content(const std::string& file) const { return read_file(folder / file); }
  /// Whether the processes whose pids are in these files all end, sooner or later.
  bool all_end(const std::vector<std::string>& files);
  /// Whether nobody holds the lock and nobody waits for it, sooner or later.
  bool becomes_free(const std::string& name);
  /// Whether somebody waits for it, sooner or later.
  bool gets_a_waiter(const std::string& name);

  std::filesystem::path folder;
  std::string url;

 private:
  std::vector<std::unique_ptr<Process>> processes_;
  std::map<std::string, pid_t> pids_;
};

}  // namespace holdfast::test
