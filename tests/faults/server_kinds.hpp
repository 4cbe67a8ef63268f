#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "faults/etcd_store.hpp"
#include "faults/replicated_store.hpp"
#include "faults/zookeeper_store.hpp"

namespace holdfast::faults {

/// A sort of store of which more is known than StoreKind says, for cases that run for several.
template <class Base>
struct KindOf {
  std::string name;
  std::function<std::unique_ptr<Base>()> make;

  friend void PrintTo(const KindOf& kind, std::ostream* out) { *out << kind.name; }
};

using OneServerKind = KindOf<OneServerStore>;
using ReplicatedKind = KindOf<ReplicatedStore>;

inline std::vector<OneServerKind> one_server_kinds() {
  return {{"etcd", [] { return std::make_unique<EtcdStore>(); }},
          {"zookeeper", [] { return std::make_unique<ZookeeperStore>(); }}};
}

inline std::vector<ReplicatedKind> replicated_kinds() {
  return {{"etcd_cluster", [] { return std::make_unique<EtcdClusterStore>(); }},
          {"zookeeper_ensemble", [] { return std::make_unique<ZookeeperEnsembleStore>(); }}};
}

}  // namespace holdfast::faults
