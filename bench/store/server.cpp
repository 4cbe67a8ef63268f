#include "store/server.hpp"

#include <fstream>
#include <iterator>

namespace holdfast::bench {

Server::Server(const std::string& program, const Command& command, const std::string& ready) {
  test::start_server(
      program, directory_.path(),
      [&] {
        port_ = test::free_port();
        return std::make_unique<test::ServerProcess>(command(directory_.path(), port_), directory_.path());
      },
      [&](test::ServerProcess&) {
        std::ifstream log(directory_.path() / "log");
        return std::string(std::istreambuf_iterator<char>(log), {}).find(ready) != std::string::npos;
      },
      process_);
}

}  // namespace holdfast::bench
