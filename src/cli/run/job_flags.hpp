#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/run/guarded_run.hpp"
#include "cli/run/job.hpp"
#include "cli/store.hpp"
#include "holdfast/options.hpp"

namespace holdfast::cli {

/// What `run` and `elect` both take: a name, how long to wait, how to hold it, what to do when it is lost, a command.
class JobFlags {
 public:
  void define(Parameters& parameters);

  const std::string& name() const { return name_; }
  /// Throws holdfast::Error for a store that no other process can reach: it would exclude nobody.
  Store store() const;

  /// These throw UsageError for flags that contradict each other.
  LockOptions lock_options() const;
  RunTerms terms() const;
  Job job(const Store& store) const;

 private:
  std::chrono::milliseconds ttl() const;
  bool survives_loss() const { return on_lost_ == "warn"; }

  std::string name_;
  bool try_ = false;
  std::optional<std::chrono::milliseconds> wait_;
  std::optional<std::chrono::milliseconds> ttl_;
  std::optional<std::chrono::milliseconds> min_hold_;
  std::optional<std::chrono::milliseconds> max_hold_;
  std::string on_lost_ = "kill";
  std::optional<std::chrono::milliseconds> grace_;
  std::string reason_;
  std::optional<int> busy_exit_;
  StoreFlags store_;
  std::vector<std::string> command_;
};

}  // namespace holdfast::cli
