// What all asynchronous functions have in common: one callback, on a thread of the client's own, whatever happens.

#include "conformance/async_forms.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using test::errc_of;
using test::eventually;

TEST_P(AsyncConformance, WhatCanBeDoneAtOnceIsAnsweredOnce) {
  for (const Immediate& form : possible(immediate_forms, can())) {
    SCOPED_TRACE(form.name);
    Codes codes;
    Client client = open();
    const Keeper keeper = form.begin(client, codes, {});
    ASSERT_TRUE(codes.reaches(1));
    EXPECT_EQ(codes.all()[0].code, std::error_code());
    EXPECT_NE(codes.all()[0].thread, std::this_thread::get_id());
    client.close();
    EXPECT_EQ(codes.size(), 1u);
  }
}

TEST_P(AsyncConformance, WhatIsRefusedIsAnsweredOnce) {
  for (const Immediate& form : possible(immediate_forms, can())) {
    if (form.refused == nullptr) continue;
    SCOPED_TRACE(form.name);
    Codes codes;
    Client client = open();
    const Keeper keeper = form.refused(client, codes, {});
    ASSERT_TRUE(codes.reaches(1));
    EXPECT_EQ(codes.all()[0].code, form.refusal);
    client.close();
    EXPECT_EQ(codes.size(), 1u);
  }
}

// Whether it was still done or not: exactly one answer.
TEST_P(AsyncConformance, ClosingAtOnceStillAnswersOnce) {
  for (const Immediate& form : possible(immediate_forms, can())) {
    SCOPED_TRACE(form.name);
    for (int round = 0; round < 5; ++round) {
      Codes codes;
      Client client = open();
      const Keeper keeper = form.begin(client, codes, {});
      client.close();
      ASSERT_EQ(codes.size(), 1u);
      const std::error_code code = codes.all()[0].code;
      EXPECT_TRUE(!code || code == Errc::closed || code == Errc::lost || code == Errc::in_doubt ||
                  code == Errc::invalid_argument)
          << code.message();
    }
  }
}

TEST_P(AsyncConformance, WhatWaitsIsAnsweredWhenItsTimeHasCome) {
  for (const Waiting& form : possible(waiting_forms, can())) {
    SCOPED_TRACE(form.name);
    const auto store = GetParam()->make();
    Codes codes;
    Client other(store->url());
    Client client(store->url());
    Keeper blocking = form.block(other);
    const Keeper keeper = form.begin(client, codes, {});
    EXPECT_FALSE(eventually(150ms, [&] { return codes.size() > 0; }));
    blocking.reset();
    form.unblock(other);
    ASSERT_TRUE(codes.reaches(1));
    EXPECT_EQ(codes.all()[0].code, std::error_code());
    EXPECT_NE(codes.all()[0].thread, std::this_thread::get_id());
    client.close();
    EXPECT_EQ(codes.size(), 1u);
  }
}

TEST_P(AsyncConformance, AStopIsAnsweredOnce) {
  for (const Waiting& form : possible(waiting_forms, can())) {
    SCOPED_TRACE(form.name);
    const auto store = GetParam()->make();
    Codes codes;
    Client other(store->url());
    Client client(store->url());
    const Keeper blocking = form.block(other);
    std::stop_source stop;
    const Keeper keeper = form.begin(client, codes, stop.get_token());
    EXPECT_FALSE(eventually(100ms, [&] { return codes.size() > 0; }));
    stop.request_stop();
    ASSERT_TRUE(codes.reaches(1));
    EXPECT_EQ(codes.all()[0].code, Errc::cancelled);
    const Keeper stopped_before = form.begin(client, codes, stop.get_token());
    ASSERT_TRUE(codes.reaches(2));
    EXPECT_EQ(codes.all()[1].code, Errc::cancelled);
    EXPECT_NE(codes.all()[1].thread, std::this_thread::get_id());
    client.close();
    EXPECT_EQ(codes.size(), 2u);
  }
}

TEST_P(AsyncConformance, ClosingAnswersWhatWaits) {
  for (const Waiting& form : possible(waiting_forms, can())) {
    SCOPED_TRACE(form.name);
    const auto store = GetParam()->make();
    Client other(store->url());
    const Keeper blocking = form.block(other);
    for (const milliseconds wait : {0ms, 150ms}) {
      Codes codes;
      Client client(store->url());
      const Keeper keeper = form.begin(client, codes, {});
      EXPECT_FALSE(eventually(wait, [&] { return codes.size() > 0; }));
      client.close();
      ASSERT_EQ(codes.size(), 1u);
      EXPECT_EQ(codes.all()[0].code, Errc::closed);
    }
  }
}

TEST_P(AsyncConformance, WhatIsBegunAfterClosingThrows) {
  for (const Waiting& form : possible(waiting_forms, can())) {
    SCOPED_TRACE(form.name);
    Codes codes;
    Client client = open();
    client.close();
    EXPECT_EQ(errc_of([&] { form.begin(client, codes, {}); }), Errc::closed);
    EXPECT_EQ(errc_of([&] { form.begin(client, codes, {}); }), Errc::closed);
    EXPECT_EQ(codes.size(), 0u);
  }
  for (const Immediate& form : possible(immediate_forms, can())) {
    SCOPED_TRACE(form.name);
    Codes codes;
    Client client = open();
    client.close();
    EXPECT_EQ(errc_of([&] { form.begin(client, codes, {}); }), Errc::closed);
    EXPECT_EQ(codes.size(), 0u);
  }
}

TEST_P(AsyncConformance, TheObjectMayGoBeforeItsAnswer) {
  for (const Waiting& form : possible(waiting_forms, can())) {
    SCOPED_TRACE(form.name);
    const auto store = GetParam()->make();
    Codes codes;
    Client other(store->url());
    Client client(store->url());
    Keeper blocking = form.block(other);
    form.begin(client, codes, {}).reset();
    blocking.reset();
    form.unblock(other);
    ASSERT_TRUE(codes.reaches(1));
    EXPECT_EQ(codes.all()[0].code, form.when_abandoned);
  }
}

}  // namespace
}  // namespace holdfast::conformance
