#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace holdfast::test {

/// The kernel's number of the TCP socket of this machine that is connected from `local_port` to `remote_port`; empty if
/// there is none.
inline std::string socket_from(std::uint16_t local_port, std::uint16_t remote_port) {
  const auto port_in = [](const std::string& address) {
    return std::stoul(address.substr(address.rfind(':') + 1), nullptr, 16);
  };
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream rows(table);
    std::string row;
    std::getline(rows, row);  // the headline
    while (std::getline(rows, row)) {
      std::istringstream words(row);
      std::string local;
      std::string remote;
      std::string ignored;
      std::string number;
      words >> ignored >> local >> remote;
      for (int i = 0; i < 6; ++i) words >> ignored;
      words >> number;
      if (port_in(local) == local_port && port_in(remote) == remote_port) return number;
    }
  }
  return {};
}

/// Whether the process has that socket open.
inline bool has_socket(pid_t process, const std::string& number) {
  std::error_code error;
  // It may end meanwhile, and open and close others.
  std::filesystem::directory_iterator entry("/proc/" + std::to_string(process) + "/fd", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code closed;
    if (std::filesystem::read_symlink(entry->path(), closed) == "socket:[" + number + "]") return true;
  }
  return false;
}

}  // namespace holdfast::test
