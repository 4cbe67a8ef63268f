#pragma once

#include <etcd_api.pb.h>

#include <span>
#include <vector>

#include "backends/etcd/wire.hpp"

/// Between plain types and what goes over the wire.
namespace holdfast::etcd::wire {

api::TxnRequest message_of(std::span<const Transaction* const> transactions);
/// `count`: of how many transactions.
std::vector<TransactionReply> plain_of(api::TxnResponse& response, std::size_t count);
WatchReply plain_of(api::WatchResponse& response);

}  // namespace holdfast::etcd::wire
