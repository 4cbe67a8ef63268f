#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/server_process.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::bench {

/// A server as it is set up unless somebody says otherwise, and its data on a disk (wherever TMPDIR says): what an
/// operator has. The servers of the tests are in memory, and hurry.
class Server {
 public:
  /// How to start it in a folder, at a port of 127.0.0.1.
  using Command = std::function<std::vector<std::string>(const std::filesystem::path& folder, const std::string& port)>;

  /// It is ready when it says so in its log. That is its own, so another server at the port is not taken for it.
  Server(const std::string& program, const Command& command, const std::string& ready);

  std::string address() const { return "127.0.0.1:" + port_; }

 private:
  const test::TemporaryDirectory directory_;
  std::string port_;
  std::unique_ptr<test::ServerProcess> process_;
};

}  // namespace holdfast::bench
