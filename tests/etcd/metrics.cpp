#include "etcd/metrics.hpp"

#include <array>
#include <cstdio>
#include <stdexcept>

namespace holdfast::etcd_suite {

Metrics::Metrics(const test::EtcdServer& server) : text_("\n") {
  const std::string command = "curl --silent --fail --max-time 10 http://127.0.0.1:" + server.port() + "/metrics";
  FILE* const pipe = popen(command.c_str(), "re");
  std::array<char, 65536> buffer = {};
  while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) text_.append(buffer.data(), count);
  if (pclose(pipe) != 0) throw std::runtime_error("the server does not show its metrics");
}

long long Metrics::sum_of(const std::string& beginning) const {
  double sum = 0;
  bool any = false;
  for (std::size_t at = 0; (at = text_.find("\n" + beginning, at)) != std::string::npos; ++at) {
    const std::size_t end = text_.find('\n', at + 1);
    sum += std::stod(text_.substr(text_.rfind(' ', end)));
    any = true;
  }
  if (!any) throw std::runtime_error("the server has no metric " + beginning);
  return static_cast<long long>(sum);
}

}  // namespace holdfast::etcd_suite
