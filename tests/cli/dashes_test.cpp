// Names and values that look like flags, behind `--`.
#include <gmock/gmock.h>

#include "cli/world.hpp"
#include "holdfast/election.hpp"
#include "holdfast/mutex.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class Dashes : public World {
 protected:
  Finished finished(const std::vector<std::string>& arguments) { return run(tool(arguments), with_store()); }

  Client client{url};
};

TEST_F(Dashes, BeginANameBehindTheMark) {
  const Hold hold = Mutex(client, "--x").acquire();
  Election election(client, "-x");
  election.campaign("me");
  EXPECT_THAT(finished({"show", "--", "--x"}).output, HasSubstr("mode:       exclusive\n"));
  EXPECT_THAT(finished({"ls", "--json", "--", "--x"}).output, HasSubstr("\"--x\""));
  EXPECT_EQ(finished({"leader", "--", "-x"}).output, "me\n");
  EXPECT_THAT(finished({"break", "--yes", "--", "--x"}).output, HasSubstr("took the lock '--x'"));
  EXPECT_EQ(finished({"value", "set", "--raw", "--", "-x", "--json"}).output, "--json");
  EXPECT_EQ(finished({"value", "--raw", "--", "get", "-x"}).output, "--json");
  EXPECT_EQ(finished({"value", "cas", "-x", "1", "y"}).code, 64) << "the control: without the mark it is a flag";
}

}  // namespace
}  // namespace holdfast::test
