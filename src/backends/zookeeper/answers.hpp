#pragma once

#include <zookeeper/zookeeper.h>

#include <string>
#include <string_view>
#include <vector>

#include "backends/zookeeper/reply.hpp"

/// What the library's answers to requests mean. Nobody says that a server tells the truth, so what makes no sense is
/// taken for no answer, as the library itself does.
namespace holdfast::zookeeper {

/// The code of an answer that makes no sense.
inline constexpr ZOO_ERRORS not_understood = ZRUNTIMEINCONSISTENCY;

Outcome outcome_of(int code);
/// Whether a server has answered in the session: then the session was alive.
bool was_heard(Outcome outcome);
/// Without one, all zero.
NodeStat stat_from(const Stat* stat);
/// The names of children; false if some could not be read. REQUIRES: `names` is not null.
bool read_names(const String_vector& names, std::vector<std::string>& into);
/// Whether a server made the node `created` when it was asked for `wanted`; `is_numbered`: with a sequence appended.
/// What a node is called decides whose it is.
bool is_path_for(std::string_view created, std::string_view wanted, bool is_numbered);

}  // namespace holdfast::zookeeper
