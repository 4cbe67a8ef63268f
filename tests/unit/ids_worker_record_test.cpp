#include <gtest/gtest.h>

#include "ids/worker_record.hpp"

namespace holdfast::ids {
namespace {

TEST(WorkerRecord, IsReadAsItWasWritten) {
  const WorkerRecord record = {
      .hwm = 59184000000, .since = 59183990000, .nonce = 0x9f86d081884c7d65, .holder = "web1:4711 a"};
  EXPECT_EQ(to_text(record),
            "snowflake 41/10/12/ms/1735689600\nhwm 59184000000\nsince 59183990000\nnonce 9f86d081884c7d65\n"
            "holder web1:4711 a\n");
  const auto read = parse_worker_record(to_text(record));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->layout, record.layout);
  EXPECT_EQ(read->hwm, record.hwm);
  EXPECT_EQ(read->since, record.since);
  EXPECT_EQ(read->nonce, record.nonce);
  EXPECT_EQ(read->holder, record.holder);
}

TEST(WorkerRecord, KeepsANumberThatWasGivenBackApartFromOneThatIsHeld) {
  EXPECT_EQ(parse_worker_record(to_text(WorkerRecord{.hwm = 1})).value().holder, "");
}

TEST(WorkerRecord, HasAHolderOfOneLine) {
  EXPECT_EQ(parse_worker_record(to_text(WorkerRecord{.holder = "a\nhwm 7"})).value().holder, "a hwm 7");
}

TEST(WorkerRecord, IsNothingElse) {
  const std::string good = to_text(WorkerRecord{.hwm = 5, .holder = "h"});
  ASSERT_TRUE(parse_worker_record(good));
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parse_worker_record(good.substr(0, size))) << size;
  for (const char* const text : {"", "17", "snowflake 41/10/12/ms/1735689600\nhwm -1\nsince 0\nnonce 1\nholder h\n",
                                 "snowflake 41/10/12/ms/1735689600\nhwm 2199023255553\nsince 0\nnonce 1\nholder h\n",
                                 "snowflake 41/10/12/ms/1735689600\nhwm 1x\nsince 0\nnonce 1\nholder h\n",
                                 "snowflake 99/10/12/ms/1735689600\nhwm 1\nsince 0\nnonce 1\nholder h\n",
                                 "snowflake 41/10/12/ms/1735689600\nhwm 1\nsince 0\nnonce 1\nholder h\nmore\n"}) {
    EXPECT_FALSE(parse_worker_record(text)) << text;
  }
}

TEST(PoolRecord, IsReadAsItWasWritten) {
  PoolRecord record = {.workers = 20, .window = std::chrono::seconds(10)};
  EXPECT_EQ(to_text(record), "snowflake 41/10/12/ms/1735689600\nworkers 20\nwindow 10000\nguard none\n");
  EXPECT_EQ(parse_pool_record(to_text(record)), record);
  record.guard = std::chrono::seconds(2);
  EXPECT_EQ(to_text(record), "snowflake 41/10/12/ms/1735689600\nworkers 20\nwindow 10000\nguard 2000\n");
  EXPECT_EQ(parse_pool_record(to_text(record)), record);
  EXPECT_FALSE(parse_pool_record(to_text(WorkerRecord{})));
  EXPECT_FALSE(parse_pool_record(to_text(record) + "more\n"));
  EXPECT_FALSE(parse_pool_record("snowflake 41/10/12/ms/1735689600\nworkers 20\nwindow 10000\nguard some\n"));
}

}  // namespace
}  // namespace holdfast::ids
