#pragma once

#include <chrono>
#include <cstdint>
#include <holdfast/client.hpp>
#include <holdfast/ids/auto_increment.hpp>
#include <holdfast/ids/date_counter.hpp>
#include <holdfast/ids/range.hpp>
#include <holdfast/ids/segment.hpp>
#include <holdfast/ids/snowflake.hpp>
#include <holdfast/ids/stepped.hpp>
#include <holdfast/ids/text.hpp>
#include <holdfast/ids/uuid4.hpp>
#include <holdfast/ids/uuid7.hpp>
#include <holdfast/ids/worker_pool.hpp>
#include <iostream>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast::ids;

// What the examples about ids take for granted; see prelude.hpp.

struct Row {
  std::uint64_t id;
};
void insert(std::uint64_t id);
void use(std::uint64_t first, std::uint64_t last);

/// Every example is a member function of a class derived from this.
struct Scene {
  holdfast::Client& client;
  holdfast::Client& one;
  holdfast::Client& another;
  holdfast::Client& a_third;
  holdfast::Client& a_fourth;
  Segment& generator;
  Segment& orders;
  std::vector<Row>& rows;
  const std::uint64_t id;
};
