#pragma once

#include <etcd_api.pb.h>

#include "backends/etcd/wire.hpp"

/// Between plain types and what goes over the wire.
namespace holdfast::etcd::wire {

api::TxnRequest message_of(const Transaction& transaction);
TransactionReply plain_of(api::TxnResponse& response);
WatchReply plain_of(api::WatchResponse& response);

}  // namespace holdfast::etcd::wire
