#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/world.hpp"
#include "holdfast/election.hpp"
#include "holdfast/mutex.hpp"

namespace holdfast::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class ShowLeader : public World {
 protected:
  Finished leader(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "leader");
    return run(tool(std::move(arguments)), with_store());
  }

  Client client{url};
};

TEST_F(ShowLeader, PrintsWhatItPublished) {
  Election election(client, "scheduler");
  const Token term = election.campaign("host-7:8080\n\x1b");
  const Finished finished = leader({"scheduler"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.output, "host-7:8080\\n\\x1b\n");
  EXPECT_EQ(finished.errors, "");

  const Json json = Json::parse(leader({"scheduler", "--json"}).output);
  EXPECT_EQ(json, (Json{{"name", "scheduler"}, {"value", "host-7:8080\n\x1b"}, {"term", to_string(term)}}));

  election.proclaim("elsewhere");
  EXPECT_EQ(leader({"scheduler"}).output, "elsewhere\n");
}

TEST_F(ShowLeader, IsNobodyWhenNobodyLeads) {
  const Hold lock = Mutex(client, "scheduler").acquire();  // another thing
  for (const auto& arguments : {std::vector<std::string>{"scheduler"}, {"scheduler", "--json"}}) {
    const Finished finished = leader(arguments);
    EXPECT_EQ(finished.code, 75);
    EXPECT_EQ(finished.output, "");
    EXPECT_THAT(finished.errors, HasSubstr("nobody leads 'scheduler'"));
  }
  Election election(client, "scheduler");
  election.campaign("me");
  EXPECT_EQ(leader({"scheduler"}).code, 0);
  election.resign();
  EXPECT_EQ(leader({"scheduler"}).code, 75);
}

}  // namespace
}  // namespace holdfast::test
