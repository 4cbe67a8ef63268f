#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "backends/etcd/wire/tag.hpp"

namespace holdfast::etcd::wire {

/// A call that is under way and can be cancelled.
class Cancellable {
 public:
  virtual ~Cancellable() = default;
  virtual void cancel() = 0;
};

/// One request and its response.
template <class Request, class Response>
class UnaryCall final : public Cancellable {
 public:
  using OnAnswer = std::function<void(const grpc::Status&, Response&)>;

  explicit UnaryCall(OnAnswer on_answer)
      : on_answer_(std::move(on_answer)), tag_([this](bool) {
          const OnAnswer on_answer_of_it = on_answer_;  // it destroys this call
          on_answer_of_it(status_, response_);
        }) {}

  grpc::ClientContext& context() { return context_; }

  void start(const std::shared_ptr<grpc::Channel>& channel, grpc::CompletionQueue& queue, const std::string& method,
             const Request& request, std::chrono::nanoseconds timeout) {
    context_.set_deadline(std::chrono::system_clock::now() +
                          std::chrono::duration_cast<std::chrono::system_clock::duration>(timeout));
    grpc::TemplatedGenericStub<Request, Response> stub(channel);
    reader_ = stub.PrepareUnaryCall(&context_, method, request, &queue);
    reader_->StartCall();
    reader_->Finish(&response_, &status_, &tag_);
  }

  void cancel() override { context_.TryCancel(); }

 private:
  const OnAnswer on_answer_;
  Tag tag_;
  grpc::ClientContext context_;
  Response response_;
  grpc::Status status_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader_;
};

}  // namespace holdfast::etcd::wire
