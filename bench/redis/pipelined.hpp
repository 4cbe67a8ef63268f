#pragma once

namespace holdfast::bench {

/// Pairs for each second that redis-benchmark reaches with the scripts by which Holdfast takes and releases a free
/// lock: one connection, 16 deep, each script in a run of its own. No thread waits for anything: what the server can
/// do.
class PipelinedScripts {
 public:
  explicit PipelinedScripts(int port);
  double pairs_per_second();

 private:
  const int port_;
};

}  // namespace holdfast::bench
