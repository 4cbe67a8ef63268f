#include "store/store.hpp"

#include <fstream>

#include "store/server.hpp"

namespace holdfast::bench {
namespace {

std::string class_path() {
  std::string path;
  for (const char* const jar :
       {"zookeeper", "zookeeper-jute", "slf4j-api", "slf4j-simple", "netty-handler", "netty-buffer", "netty-common",
        "netty-transport", "metrics-core", "snappy-java", "commons-cli", "commons-io"}) {
    path += "/usr/share/java/" + std::string(jar) + ".jar:";
  }
  return path;
}

std::vector<std::string> command(const std::filesystem::path& folder, const std::string& port) {
  // Sessions may be longer than the 40 s that are usual.
  std::ofstream(folder / "zoo.cfg") << "dataDir=" << (folder / "data").string() << "\nclientPort=" << port
                                    << "\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n"
                                       "maxSessionTimeout=120000\n";
  // Only what says that it is ready, and trouble.
  const std::string logger = "-Dorg.slf4j.simpleLogger.";
  return {"java",
          logger + "defaultLogLevel=warn",
          logger + "log.org.apache.zookeeper.server.PrepRequestProcessor=info",
          "-cp",
          class_path(),
          "org.apache.zookeeper.server.ZooKeeperServerMain",
          "zoo.cfg"};
}

}  // namespace

const Store& store() {
  static const Server server("zookeeper", command, "PrepRequestProcessor (sid:0) started");
  static const Store zookeeper = {.url = "zookeeper://" + server.address(),
                                  .address = server.address(),
                                  .raw = "create + delete, Java",
                                  .peer = "Curator",
                                  .peer_program = "curator",
                                  .pair_to_raw = 0.9,
                                  .spread_to_peer = 1.5,
                                  .processes_to_peer = 1.2};
  return zookeeper;
}

}  // namespace holdfast::bench
