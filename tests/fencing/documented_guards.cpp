#include "fencing/documented_guards.hpp"

#include <fstream>
#include <stdexcept>

#include "fencing/shell.hpp"

namespace holdfast::fencing {
namespace {

/// Whether the answer is `yes`; false if it is `no`.
bool decided(const Outcome& outcome, const std::string& yes, const std::string& no) {
  if (outcome.status == 0 && outcome.output == yes) return true;
  if (outcome.status == 0 && outcome.output == no) return false;
  throw std::runtime_error("unexpected answer, status " + std::to_string(outcome.status) + ": " + outcome.output);
}

std::string output_of(const Outcome& outcome) {
  if (outcome.status != 0) throw std::runtime_error("unexpected answer: " + outcome.output);
  return outcome.output;
}

}  // namespace

InRedis::InRedis(const std::string& script) { std::ofstream(directory_.path() / "fenced_set.lua") << script; }

bool InRedis::write(Token token, const std::string& value) {
  return decided(run_script(documented("redis-shell"), directory_.path(),
                            {{"REDIS_URL", server_.url()}, {"HOLDFAST_TOKEN", to_string(token)}, {"BODY", value}}),
                 "1", "0");
}

std::string InRedis::value() {
  return output_of(run_script(R"(redis-cli -e -u "$REDIS_URL" HGET report value)", directory_.path(),
                              {{"REDIS_URL", server_.url()}}));
}

std::string InRedis::answer(const std::string& command, Token token, const std::string& value) {
  return run_script(command, directory_.path(),
                    {{"REDIS_URL", server_.url()}, {"HOLDFAST_TOKEN", to_string(token)}, {"BODY", value}})
      .output;
}

bool InEtcd::write(Token token, const std::string& value) {
  return decided(run_script(script_, directory_.path(),
                            {{"ETCDCTL_API", "3"},
                             {"ETCDCTL_ENDPOINTS", "http://" + server_.hosts()},
                             {"HOLDFAST_TOKEN", to_string(token)},
                             {"BODY", value}}),
                 "written", "refused");
}

std::string InEtcd::value() {
  return output_of(run_script("etcdctl get --print-value-only report/value", directory_.path(),
                              {{"ETCDCTL_API", "3"}, {"ETCDCTL_ENDPOINTS", "http://" + server_.hosts()}}));
}

}  // namespace holdfast::fencing
