// The points of a figure from records: their names and places, and which records have none.
#include "commands/drawn_records.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "error.hpp"
#include "scratch.hpp"

using namespace swa;
using commands::time_points;
using report::read_records;
using report::ReadRecord;
using report::Value;
using std::string;

namespace {

ReadRecord record(const string& kernel, Value n_q, Value window, Value seconds) {
  return {"times.json",
          4,
          {{"kernel", kernel},
           {"n_q", std::move(n_q)},
           {"n_k", std::int64_t{512}},
           {"window", std::move(window)},
           {"seconds", std::move(seconds)}}};
}
ReadRecord usual() {
  return record("a", std::int64_t{64}, std::int64_t{16}, 0.25);
}
ReadRecord with(ReadRecord record, const string& key, Value value) {
  std::erase_if(record.cells, [&](const auto& cell) { return cell.first == key; });
  record.cells.emplace_back(key, std::move(value));
  return record;
}

string complaint(const std::vector<ReadRecord>& records) {
  try {
    time_points(records);
  } catch (const UsageError& error) {
    CHECK_FALSE(error.remedy().empty());
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a record is a point of its kernel's line") {
  const auto points = time_points({usual(), record("b", std::int64_t{128}, Value(), 2e-3),
                                   record("c", std::int64_t{128}, Value(), Value())});
  REQUIRE(points.size() == 2);
  CHECK(points[0].kernel == "a");
  CHECK(points[0].n_q == 64);
  CHECK(points[0].window == 16);
  CHECK(points[0].milliseconds == doctest::Approx(250));
  CHECK(points[1].window == 512);
  CHECK(points[1].milliseconds == doctest::Approx(2));
  CHECK(time_points({with(usual(), "seconds", std::int64_t{3})})[0].milliseconds == 3000);
}

TEST_CASE("regime and threads are in a name where records differ in them") {
  const auto names = [](const std::vector<ReadRecord>& records) {
    std::vector<string> found;
    for (const auto& point : time_points(records)) found.push_back(point.kernel);
    return found;
  };
  const auto regime = [](const string& word) { return with(usual(), "regime", word); };
  const auto threads = [](std::int64_t n) { return with(usual(), "threads", n); };
  CHECK(names({regime("alone")}) == std::vector<string>{"a"});
  CHECK(names({regime("alone"), regime("sustained")}) ==
        std::vector<string>{"a, alone", "a, sustained"});
  CHECK(names({threads(1), threads(2)}) == std::vector<string>{"a, 1 thread", "a, 2 threads"});
  CHECK(names({threads(2), with(usual(), "kernel", string("gpu"))}) ==
        std::vector<string>{"a", "gpu"});
}

TEST_CASE("a record that has no place in the figure is named") {
  for (const string key : {"kernel", "n_q", "window", "seconds"}) {
    CAPTURE(key);
    ReadRecord without = usual();
    std::erase_if(without.cells, [&](const auto& cell) { return cell.first == key; });
    CHECK(complaint({usual(), without}) == "times.json, record 4 has no '" + key + "'");
  }
  ReadRecord global = record("a", std::int64_t{64}, Value(), 1.0);
  std::erase_if(global.cells, [](const auto& cell) { return cell.first == "n_k"; });
  CHECK(complaint({global}) == "times.json, record 4 has no 'n_k'");
  for (const Value& wrong : {Value(), Value(std::int64_t{0}), Value(std::int64_t{-4}), Value(4.5),
                             Value(string("64")), Value(true), Value(report::Numbers{64})}) {
    CHECK(complaint({with(usual(), "n_q", wrong)}) ==
          "times.json, record 4 has no size as its 'n_q'");
  }
  CHECK(complaint({with(usual(), "window", std::int64_t{0})}) ==
        "times.json, record 4 has no size as its 'window'");
  for (const Value& wrong :
       {Value(0.0), Value(-1.0), Value(string("1")), Value(false), Value(1e308)}) {
    CHECK(complaint({with(usual(), "seconds", wrong)}) ==
          "times.json, record 4 has no time as its 'seconds'");
  }
  for (const Value& wrong : {Value(), Value(string()), Value(1.0)}) {
    CHECK(complaint({with(usual(), "kernel", wrong)}) ==
          "times.json, record 4 has no name as its 'kernel'");
  }
  CHECK(complaint({with(usual(), "kernel", string(80, 'k'))}).empty());
  CHECK(complaint({with(usual(), "kernel", string(81, 'k'))}) ==
        "times.json, record 4 has a kernel of more than 80 characters");
  CHECK(complaint({usual(), usual()}) ==
        "times.json, record 4 would be drawn on the point of record 4: both are a, n_q 64, window "
        "16");
}

TEST_CASE("a file of records is drawn as a chart of times, of at most twenty kernels") {
  const auto file = [](int kernels) {
    string text = "{\"schema\": \"swa.peers/1\", \"records\": [";
    for (int k = 0; k < kernels; ++k) {
      for (const char* n : {"1024", "2048"}) {
        text += string(text.back() == '[' ? "" : ", ") + "{\"kernel\": \"k" + std::to_string(k) +
                "\", \"n_q\": " + n + ", \"n_k\": " + n +
                ", \"window\": 128, \"seconds\": 0.5, \"reason\": null}";
      }
    }
    return text + "]}";
  };
  const swa::test::Scratch scratch;
  const auto points = time_points(read_records(scratch.write("a.json", file(20))));
  CHECK(points.size() == 40);
  CHECK_NOTHROW(figures::time_chart(points, "a.json"));
  const auto more = time_points(read_records(scratch.write("b.json", file(21))));
  CHECK_THROWS_AS(figures::time_chart(more, "b.json"), UsageError);
}
