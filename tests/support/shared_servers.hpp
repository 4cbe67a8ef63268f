#pragma once

#include <functional>
#include <memory>
#include <string>

namespace holdfast::test {

/// Servers that run, until the last copy is gone.
struct RunningServers {
  std::string url = {};
  std::shared_ptr<void> servers = {};
};

/// The URL of servers that all processes of this test program share, because they take longer to start than most cases
/// take: `name` says which. Whoever comes first has them started, by `start`, in a process that outlives it and keeps
/// them until nobody has used them for a while. Who shares them neither stops them nor expects to find them empty.
/// Throws if they do not start.
std::string shared_servers(const std::string& name, const std::function<RunningServers()>& start);

}  // namespace holdfast::test
