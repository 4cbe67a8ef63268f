#pragma once

#include <sstream>
#include <string>

#include "support/etcd_server.hpp"

namespace holdfast::etcd_suite {

/// The lease that a key is under, as etcdctl writes it: the first key that begins so.
inline std::string lease_of(const test::EtcdServer& server, const std::string& key) {
  const std::string json = server.command({"get", "--prefix", key, "--write-out=json"});
  std::ostringstream id;
  id << std::hex << std::stoll(json.substr(json.find("\"lease\":") + 8));
  return id.str();
}

}  // namespace holdfast::etcd_suite
