#include "backends/etcd/wire/messages.hpp"

#include <utility>

namespace holdfast::etcd::wire {
namespace {

// The numbers that etcd uses.
constexpr int ascending = 1;
constexpr int descending = 2;
constexpr int by_create_revision = 2;
constexpr int equal = 0;
constexpr int less = 2;
constexpr int deletion = 1;

void add(const Range& range, api::RequestOp& operation) {
  api::RangeRequest& request = *operation.mutable_request_range();
  request.set_key(range.key);
  request.set_limit(range.limit);
  request.set_keys_only(range.keys_only);
  request.set_count_only(range.count_only);
  request.set_max_create_revision(range.not_created_after);
  if (range.range_end.empty()) return;
  request.set_range_end(range.range_end);
  if (range.count_only) return;
  request.set_sort_order(range.newest_first ? descending : ascending);
  request.set_sort_target(by_create_revision);
}

void add(const Put& put, api::RequestOp& operation) {
  api::PutRequest& request = *operation.mutable_request_put();
  request.set_key(put.key);
  request.set_value(put.value);
  request.set_lease(put.lease);
  request.set_ignore_lease(put.keep_lease);
}

void add(const Delete& request, api::RequestOp& operation) {
  operation.mutable_request_delete_range()->set_key(request.key);
}

void add(const Compare& compare, api::Comparison& comparison) {
  comparison.set_key(compare.key);
  comparison.set_range_end(compare.range_end);
  comparison.set_result(compare.is == Compare::Is::equal ? equal : less);
  comparison.set_target(static_cast<int>(compare.what));
  switch (compare.what) {
    case Compare::What::version: return comparison.set_version(compare.number);
    case Compare::What::create_revision: return comparison.set_create_revision(compare.number);
    case Compare::What::mod_revision: return comparison.set_mod_revision(compare.number);
  }
}

KeyValue plain_of(api::StoredKey& stored) {
  return {.key = std::move(*stored.mutable_key()),
          .value = std::move(*stored.mutable_value()),
          .create_revision = stored.create_revision(),
          .mod_revision = stored.mod_revision(),
          .version = stored.version(),
          .lease = stored.lease()};
}

Outcome plain_of(api::ResponseOp& response) {
  Outcome outcome;
  if (response.has_response_range()) {
    api::RangeResponse& range = *response.mutable_response_range();
    outcome.count = range.count();
    outcome.found.reserve(static_cast<std::size_t>(range.kvs_size()));
    for (api::StoredKey& stored : *range.mutable_kvs()) outcome.found.push_back(plain_of(stored));
  } else if (response.has_response_delete_range()) {
    outcome.count = response.response_delete_range().deleted();
  }
  return outcome;
}

void add(const Transaction& transaction, api::TxnRequest& message) {
  static_assert(static_cast<int>(Compare::What::version) == 0 && static_cast<int>(Compare::What::mod_revision) == 2);
  for (const Compare& compare : transaction.when) add(compare, *message.add_compare());
  for (const KeyOperation& each : transaction.then) {
    std::visit([&](const auto& operation) { add(operation, *message.add_success()); }, each);
  }
  for (const KeyOperation& each : transaction.otherwise) {
    std::visit([&](const auto& operation) { add(operation, *message.add_failure()); }, each);
  }
}

TransactionReply plain_of(api::TxnResponse& response, const api::Header& header) {
  TransactionReply reply;
  reply.succeeded = response.succeeded();
  reply.revision = header.revision();
  reply.term = header.raft_term();
  reply.outcomes.reserve(static_cast<std::size_t>(response.responses_size()));
  for (api::ResponseOp& each : *response.mutable_responses()) reply.outcomes.push_back(plain_of(each));
  return reply;
}

}  // namespace

api::TxnRequest message_of(std::span<const Transaction* const> transactions) {
  api::TxnRequest message;
  if (transactions.size() == 1) {
    add(*transactions.front(), message);
  } else {
    for (const Transaction* const each : transactions) add(*each, *message.add_success()->mutable_request_txn());
  }
  return message;
}

std::vector<TransactionReply> plain_of(api::TxnResponse& response, std::size_t count) {
  const api::Header header = response.header();  // the inner responses have no headers of their own
  std::vector<TransactionReply> replies;
  if (count == 1) {
    replies.push_back(plain_of(response, header));
  } else {
    for (api::ResponseOp& each : *response.mutable_responses()) {
      replies.push_back(plain_of(*each.mutable_response_txn(), header));
    }
  }
  return replies;
}

WatchReply plain_of(api::WatchResponse& response) {
  WatchReply reply;
  reply.watch = response.watch_id();
  reply.revision = response.header().revision();
  reply.created = response.created();
  reply.canceled = response.canceled();
  reply.events.reserve(static_cast<std::size_t>(response.events_size()));
  for (api::WatchEvent& event : *response.mutable_events()) {
    api::StoredKey& stored = *event.mutable_kv();
    reply.events.push_back({.key = std::move(*stored.mutable_key()),
                            .revision = stored.mod_revision(),
                            .created = event.type() != deletion && stored.version() == 1,
                            .deleted = event.type() == deletion});
  }
  return reply;
}

}  // namespace holdfast::etcd::wire
