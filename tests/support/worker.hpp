#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "holdfast/client.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/ids/snowflake.hpp"

namespace holdfast::test {

/// A client that is driven by lines of text, so that one and the same case can have it on another thread or in
/// another process (support/peer.hpp). Not thread-safe.
///
/// | command                        | answer                                                            |
/// |--------------------------------|-------------------------------------------------------------------|
/// | `acquire NAME TTL_MS WAIT_MS`  | `granted TOKEN`, `timed_out`. A fourth number is the lock_delay   |
/// | `share NAME TTL_MS WAIT_MS`    | the same, as a reader                                             |
/// | `take NAME COUNT TOTAL TTL_MS  | the same, for permits of a semaphore                              |
/// | WAIT_MS`                       |                                                                   |
/// | `release NAME`                 | `released`, `not_held`, `in_doubt`                                |
/// | `valid NAME`                   | `yes`, `no`                                                       |
/// | `await_loss NAME`              | `lost`, or `held` when that has not happened after a long time    |
/// | `await_request NAME`           | `asked REASON` when somebody asks for NAME, or `not_asked`        |
/// | `holders NAME`                 | how many the store lists                                          |
/// | `count NAME FILE ROUNDS`       | `counted`: adds 1 to the number in FILE, ROUNDS times, under NAME |
/// | `write NAME FILE`              | `accepted` or `refused` by the FencedFile, with the hold's token  |
/// | `write_late NAME FILE`         | the same; but between a look that finds the hold valid and the    |
/// |                                | write, the process stops itself. `not_valid` if it is not         |
/// | `fork`                         | the pid of a child that does nothing, and outlives this process   |
/// | `exit`                         | none: the process ends at once, and gives nothing back            |
/// | `identity`                     | the client's id                                                   |
/// | `mint POOL WORKERS WINDOW_MS   | `minted`: appends COUNT ids of a Snowflake, which it keeps, to    |
/// | COUNT FILE`                    | the IdFile FILE. Waits long for each                              |
/// | `close POOL`                   | `closed`: gives the Snowflake's worker number back                |
///
/// NAME and FILE are words. Every command may answer `error CODE MESSAGE` instead, and none waits for ever.
class Worker {
 public:
  explicit Worker(const std::string& url);

  std::string answer(const std::string& command);

 private:
  std::string execute(const std::string& command);
  std::string mint(const std::string& pool, std::istream& words);
  std::string keep(const std::string& name, std::optional<Hold> hold);

  Client client_;
  std::map<std::string, Hold> holds_;
  std::map<std::string, std::unique_ptr<ids::Snowflake>> snowflakes_;
};

/// Whether this program was started as a worker by support/peer.hpp.
bool is_worker(int argc, char** argv);
/// The main() of such a program: the URL and then commands on standard input, answers on standard output. Ends,
/// without giving anything back, at the end of the input.
[[noreturn]] void run_worker();

}  // namespace holdfast::test
