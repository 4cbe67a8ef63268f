#pragma once

#include <etcd_api.pb.h>

#include <span>
#include <vector>

#include "backends/etcd/wire.hpp"

/// Converts between plain types and the messages of etcd's interface.
namespace holdfast::etcd::wire {

api::TxnRequest message_of(std::span<const Transaction* const> transactions);
/// `count`: how many transactions were sent.
std::vector<TransactionReply> plain_of(api::TxnResponse& response, std::size_t count);
WatchReply plain_of(api::WatchResponse& response);

}  // namespace holdfast::etcd::wire
