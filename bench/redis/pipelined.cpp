#include "redis/pipelined.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "backends/redis/layouts/queue_scripts.hpp"
#include "driver.hpp"
#include "redis/raw.hpp"

namespace holdfast::bench {
namespace {

constexpr int requests = 5'000;

const std::string line_begins = "holdfast:{7f}:l:";

/// The random part is redis-benchmark's. A free lock touches neither the second key nor the third.
const std::vector<std::string> keys = {"4", line_begins + "__rand_int__", "holdfast:{7f}:lc:x", "holdfast:{7f}:lo:x",
                                       "holdfast:{7f}:n"};

const std::string id = "0123456789abcdef";

std::vector<std::string> acquire_arguments() {
  // Mode, units and total, and who claims: what every record has. No argument can have a zero byte in it.
  const std::string tail = "\x01" + std::string(8, '\xff') + std::string(100, 'x');
  return {id, tail, "30000", "w", ""};
}

/// Requests for each second.
double run(int port, int names, const std::string& digest, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {"redis-benchmark", "-p", std::to_string(port), "-c", "1", "-P", "16", "--csv"};
  command.insert(command.end(), {"-n", std::to_string(requests), "-r", std::to_string(names), "EVALSHA", digest});
  for (const auto& more : {keys, arguments}) command.insert(command.end(), more.begin(), more.end());
  const std::string output = output_of(command);  // a line of titles, then: "the command","12345.67",...
  const std::size_t number = output.find("\",\"", output.find("\n\""));
  if (number == std::string::npos) throw std::runtime_error("redis-benchmark said: " + output);
  return std::stod(output.substr(number + 3));
}

}  // namespace

PipelinedScripts::PipelinedScripts(int port) : port_(port) {
  Raw raw(port);
  raw.ask({"SCRIPT", "LOAD", redis::claim_script().text()});
}

double PipelinedScripts::pairs_per_second() {
  constexpr int very_many = 2'000'000'000;  // so that hardly any name comes twice
  constexpr int held = 100'000;             // so that most of the names that are released are still held
  const std::string fill_up = R"lua(
local any = redis.call('KEYS', ARGV[1] .. '*')[1]
local state = redis.call('GET', any)
for i = 0, ARGV[2] - 1 do redis.call('SET', ARGV[1] .. string.format('%012d', i), state, 'PX', 60000) end
)lua";
  Raw(port_).ask("FLUSHDB");
  const double acquires = run(port_, very_many, redis::claim_script().digest(), acquire_arguments());
  Raw(port_).ask({"EVAL", fill_up, "0", line_begins, std::to_string(held)});
  const double releases = run(port_, held, redis::claim_script().digest(), {id});
  return 1 / (1 / acquires + 1 / releases);
}

}  // namespace holdfast::bench
