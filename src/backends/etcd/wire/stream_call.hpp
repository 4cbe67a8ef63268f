#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "backends/etcd/wire/unary_call.hpp"

namespace holdfast::etcd::wire {

/// A stream of requests and responses, until one side ends it. Its owner's mutex guards it.
///
/// gRPC accepts one write at a time, and has to be asked for the final status after a read has failed. The stream has
/// ended when nothing of it is under way any more.
template <class Request, class Response>
class StreamCall final : public Cancellable {
 public:
  using OnResponse = std::function<void(Response&)>;
  using OnEnd = std::function<void(const grpc::Status&)>;

  StreamCall(OnResponse on_response, OnEnd on_end)
      : on_response_(std::move(on_response)),
        on_end_(std::move(on_end)),
        started_([this](bool ok) { has_started(ok); }),
        read_([this](bool ok) { has_read(ok); }),
        written_([this](bool ok) { has_written(ok); }),
        finished_([this](bool) { has_finished(); }) {}

  grpc::ClientContext& context() { return context_; }

  void start(const std::shared_ptr<grpc::Channel>& channel, grpc::CompletionQueue& queue, const std::string& method) {
    grpc::TemplatedGenericStub<Request, Response> stub(channel);
    stream_ = stub.PrepareCall(&context_, method, &queue);
    writing_ = true;
    stream_->StartCall(&started_);
  }

  void write(Request request) {
    if (ending_) return;
    requests_.push_back(std::move(request));
    write_next();
  }

  void cancel() override { context_.TryCancel(); }

 private:
  void has_started(bool ok) {
    writing_ = false;
    if (!ok) return end();
    reading_ = true;
    stream_->Read(&response_, &read_);
    write_next();
  }

  void has_read(bool ok) {
    reading_ = false;
    if (!ok) return end();
    on_response_(response_);
    response_.Clear();
    reading_ = true;
    stream_->Read(&response_, &read_);
  }

  void has_written(bool ok) {
    writing_ = false;
    if (!ok || ending_) return end();
    write_next();
  }

  void write_next() {
    if (writing_ || requests_.empty()) return;
    writing_ = true;
    stream_->Write(requests_.front(), &written_);
    requests_.pop_front();
  }

  void end() {
    ending_ = true;
    if (reading_ || writing_) return;  // these will fail, too
    stream_->Finish(&status_, &finished_);
  }

  void has_finished() {
    const OnEnd on_end = on_end_;  // it destroys this stream
    on_end(status_);
  }

  const OnResponse on_response_;
  const OnEnd on_end_;
  Tag started_;
  Tag read_;
  Tag written_;
  Tag finished_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<Request, Response>> stream_;
  std::deque<Request> requests_;
  Response response_;
  grpc::Status status_;
  bool reading_ = false;
  bool writing_ = false;  ///< or the stream is being started
  bool ending_ = false;
};

}  // namespace holdfast::etcd::wire
