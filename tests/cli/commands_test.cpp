// The commands as people and scripts run them: figures, formats, repro lines, help, data folders.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/forward.hpp"
#include "process.hpp"

using namespace swa::test;
using nlohmann::json;
using std::string;
using std::vector;

namespace {

// Parses, and refuses a key that stands twice in one object.
json parse(const string& text) {
  vector<std::set<string>> open;
  return json::parse(text, [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key) {
      const auto key = value.get<string>();
      CHECK_MESSAGE(open.back().insert(key).second, "twice in one object: ", key);
    }
    return true;
  });
}

json report_of(const string& line) {
  return parse(output(line + " --format json"));
}
json records_of(const string& line) {
  return report_of(line)["records"];
}
// Those of one table.
json records_of(const string& line, const string& table) {
  json chosen = json::array();
  for (const json& record : records_of(line)) {
    if (record.value("record", "") == table) chosen.push_back(record);
  }
  return chosen;
}

// The cells of all rows of all Markdown tables, headers included.
vector<vector<string>> markdown_rows(const string& text) {
  vector<vector<string>> rows;
  for (const string& line : lines(text)) {
    if (!line.starts_with("| ") || line.starts_with("| -")) continue;
    vector<string> cells;
    for (std::size_t begin = 2; begin < line.size();) {
      const std::size_t end = line.find(" |", begin);
      cells.push_back(line.substr(begin, end - begin));
      begin = end + 3;
    }
    rows.push_back(cells);
  }
  return rows;
}

// RFC 4180: tables of records of fields, an empty line between tables.
vector<vector<vector<string>>> csv_tables(const string& text) {
  vector<vector<vector<string>>> tables(1);
  vector<string> record;
  string field;
  bool quoted = false, any = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = any = true;
    } else if (c == ',') {
      record.push_back(std::exchange(field, {}));
      any = true;
    } else if (c != '\n') {
      field += c;
      any = true;
    } else if (!any) {
      tables.emplace_back();
    } else {
      record.push_back(std::exchange(field, {}));
      tables.back().push_back(std::exchange(record, {}));
      any = false;
    }
  }
  CHECK_FALSE(quoted);
  CHECK_FALSE(any);  // the last line ends
  return tables;
}

string printed(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// Runs a record's own repro line again and expects the same record, but for the keys that belong to
// the run it came from.
void check_repro(const json& record, const vector<string>& but_for = {}) {
  REQUIRE(record.contains("repro"));
  const string line = record["repro"];
  CAPTURE(line);
  CHECK(line.starts_with("swa "));
  for (json again : records_of(line)) {
    if (again.value("record", "") != record.value("record", "")) continue;
    json expected = record;
    for (const string& key : but_for) {
      again.erase(key);
      expected.erase(key);
    }
    CHECK(again == expected);
    return;
  }
  FAIL_CHECK("no record of that kind");
}

// One command line of each command that does something, and is quick.
const vector<string> kEach{"kv-budget",
                           "tile-map --nq 120 --W 40 --BM 16 --BN 16 --show --show-mask",
                           "tile-map --nq 64 --W 4 --reach LLLG",
                           "verify --nq 70,8 --W none,5",
                           "trap-demo all",
                           "ring-sim --prefill 20"};

}  // namespace

// --- kv-budget -------------------------------------------------------------------------------

TEST_CASE("kv-budget prints the chapter's twelve rows") {
  const string mistral = "Mistral-7B-v0.1", gemma = "Gemma-2-27B", oss = "gpt-oss-120b";
  const string five = "Gemma-2-27B shape, 5:1 W=1024";
  const vector<vector<string>> expected{
      {mistral, "32/0", "8192", "1.00", "0.50", "2.0x"},
      {mistral, "32/0", "32768", "4.00", "0.50", "8.0x"},
      {mistral, "32/0", "131072", "16.00", "0.50", "32.0x"},
      {gemma, "23/23", "8192", "2.88", "2.16", "1.3x"},
      {gemma, "23/23", "32768", "11.50", "6.47", "1.8x"},
      {gemma, "23/23", "131072", "46.00", "23.72", "1.9x"},
      {oss, "18/18", "8192", "0.56", "0.29", "2.0x"},
      {oss, "18/18", "32768", "2.25", "1.13", "2.0x"},
      {oss, "18/18", "131072", "9.00", "4.50", "2.0x"},
      {five, "39/7", "8192", "2.88", "0.74", "3.9x"},
      {five, "39/7", "32768", "11.50", "2.05", "5.6x"},
      {five, "39/7", "131072", "46.00", "7.30", "6.3x"},
  };
  vector<vector<string>> rows = markdown_rows(output("kv-budget --format md"));
  REQUIRE(rows.size() == expected.size() + 1);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    rows[i + 1].resize(expected[i].size());
    CHECK(rows[i + 1] == expected[i]);
  }
  CHECK(contains(output("kv-budget"), "131040"));
  CHECK(report_of("kv-budget")["records"][0]["stacked_reach"] == 131040);
}

TEST_CASE("kv-budget --model gemma2-27b marks what the model does not support") {
  const string text = output("kv-budget --model gemma2-27b");
  CHECK(contains(text, "Gemma-2-27B"));
  CHECK_FALSE(contains(text, "Mistral"));
  CHECK(contains(text, "above the model's 8192"));
  const json records = records_of("kv-budget --model gemma2-27b");
  REQUIRE(records.size() == 3);
  CHECK(records[0]["supported"] == true);
  CHECK(records[1]["supported"] == false);
  CHECK(records[2]["supported"] == false);
  for (const json& record : records_of("kv-budget --model gemma2-27b-5to1")) {
    CHECK(record["supported"] == false);  // nobody published it
  }
}

TEST_CASE("no 1:1 hybrid ever saves 2x") {
  for (const json& record :
       records_of("kv-budget --model gemma2-27b,gpt-oss-120b --ctx 1:1Ti:*2 --batch 3")) {
    CHECK(record["saving"] < 2.0);
  }
}

TEST_CASE("kv-budget scales with batch and width") {
  const auto bytes = [](const string& options) {
    return records_of("kv-budget --model gpt-oss-120b --ctx 8Ki " + options)[0]["bytes"]
        .get<std::int64_t>();
  };
  const std::int64_t one = bytes("");
  CHECK(one == 306708480);
  CHECK(bytes("--batch 7") == 7 * one);
  CHECK(bytes("-b 7") == 7 * one);
  CHECK(bytes("--dtype fp32") == 2 * one);
  CHECK(bytes("--dtype fp16") == one);
  CHECK(2 * bytes("--dtype fp8_e4m3") == one);
  CHECK(2 * bytes("--dtype fp8_e5m2") == one);
}

// --- tile-map --------------------------------------------------------------------------------

TEST_CASE("tile-map --show draws the chapter's 12 x 12 tiles") {
  const string command = "tile-map --nq 192 --W 40 --BM 16 --BN 16";
  const vector<string> drawing{
      " P . . . . . . . . . . .", " F P . . . . . . . . . .", " P F P . . . . . . . . .",
      " P P F P . . . . . . . .", " . P P F P . . . . . . .", " . . P P F P . . . . . .",
      " . . . P P F P . . . . .", " . . . . P P F P . . . .", " . . . . . P P F P . . .",
      " . . . . . . P P F P . .", " . . . . . . . P P F P .", " . . . . . . . . P P F P"};
  const vector<string> text = lines(output(command + " --show"));
  REQUIRE(text.size() > drawing.size());
  CHECK(vector<string>(text.end() - 12, text.end()) == drawing);

  const json record = records_of(command)[0];
  CHECK(record["full"] == 11);
  CHECK(record["partial"] == 31);
  CHECK(record["skipped"] == 102);
  CHECK(record["empty"] == 0);
}

TEST_CASE("tile-map --show-mask prints the chapter's mask of W = 3") {
  const string text = output("tile-map --nq 8 --W 3 --show-mask");
  CHECK(contains(text,
                 "  x . . . . . . .\n"
                 "  x x . . . . . .\n"
                 "  x x x . . . . .\n"
                 "  . x x x . . . .\n"
                 "  . . x x x . . .\n"
                 "  . . . x x x . .\n"
                 "  . . . . x x x .\n"
                 "  . . . . . x x x\n"
                 "keys per query: [1, 2, 3, 3, 3, 3, 3, 3]\n"));
}

TEST_CASE("tile-map --reach prints how far back a stack depends") {
  struct Row {
    string stack;
    int first, span;
  };
  for (const Row& row : vector<Row>{{"LLLL", 51, 13}, {"LLLLLLLL", 39, 25}, {"LLLG", 0, 64}}) {
    CAPTURE(row.stack);
    const string command = "tile-map --nq 64 --W 4 --reach " + row.stack;
    const json record = records_of(command)[0];
    CHECK(record["first_dependence"] == row.first);
    CHECK(record["span"] == row.span);
    const vector<vector<string>> rows = markdown_rows(output(command + " --format md"));
    REQUIRE(rows.size() == 2);
    CHECK(rows[1] == vector<string>{row.stack, "4", "64", std::to_string(row.first),
                                    std::to_string(row.span)});
  }
}

TEST_CASE("tile-map counts what the chapter counts") {
  struct Row {
    string options;
    vector<string> keys;
    vector<std::int64_t> values;
  };
  const vector<string> classes{"full", "partial", "empty"};
  const string small = "--nq 1000 --BM 64 --BN 64 --W ", sinks = " --W 1024 --sinks 4";
  const vector<Row> rows{
      {small + "none", classes, {120, 16, 0}},
      {small + "1", classes, {0, 16, 0}},
      {small + "100", classes, {0, 45, 0}},
      {small + "128", classes, {15, 30, 0}},
      {small + "300", classes, {43, 38, 0}},
      {"--nq 1000 --BM 64 --BN 32 --W 100",
       {"full", "partial", "partial_max_per_query_tile"},
       {15, 75, 5}},
      {"--nq 8192", {"visited", "full", "partial"}, {2080, 2016, 64}},
      {"--nq 8192 --W 1024", {"visited", "full", "partial"}, {540, 420, 120}},
      {"--nq 8192" + sinks, {"visited", "full", "partial"}, {595, 420, 175}},
      {"--nq 8192 --W 4096", {"visited"}, {1584}},
      {"--nq 32768", {"visited"}, {32896}},
      {"--nq 32768 --W 1024", {"visited"}, {2268}},
      {"--nq 32768 --W 4096", {"visited"}, {7920}},
      {"--nq 131072", {"visited"}, {524800}},
      {"--nq 131072 --W 1024", {"visited"}, {9180}},
      {"--nq 131072 --W 4096", {"visited"}, {33264}},
      {"--nq 4096", {"full", "partial"}, {496, 32}},
      {"--nq 4096 --W 1024", {"full", "partial"}, {196, 56}},
      {"--nq 4096" + sinks, {"full", "partial"}, {196, 79}},
      {"--nq 16384", {"full", "partial"}, {8128, 128}},
      {"--nq 16384 --W 1024", {"full", "partial"}, {868, 248}},
      {"--nq 16384" + sinks, {"full", "partial"}, {868, 367}},
      {"--nq 512 --W 64", {"visible_pairs"}, {30752}},
      {"--nq 512 --W 256", {"visible_pairs"}, {98432}},
      {"--nq 512 --W 512", {"visible_pairs"}, {131328}},
      {"--nq 512 --W 1024", {"visible_pairs"}, {131328}},
      {"--nq 512", {"visible_pairs"}, {131328}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.options);
    const json record = records_of("tile-map " + row.options)[0];
    for (std::size_t i = 0; i < row.keys.size(); ++i) {
      CAPTURE(row.keys[i]);
      CHECK(record[row.keys[i]] == row.values[i]);
    }
    const auto count = [&](const char* key) { return record[key].get<std::int64_t>(); };
    const std::int64_t grid = (count("n_q") + count("BM") - 1) / count("BM") *
                              ((count("n_k") + count("BN") - 1) / count("BN"));
    CHECK(count("visited") == count("full") + count("partial") + count("empty"));
    CHECK(count("visited") + count("skipped") == grid);
    CHECK(record["useful_fraction"].get<double>() ==
          doctest::Approx(record["visible_pairs"].get<double>() /
                          (record["visited"].get<double>() * record["BM"].get<double>() *
                           record["BN"].get<double>())));
  }
}

TEST_CASE("tile-map prints FlexAttention's sparsity") {
  vector<string> sparsity;
  for (const string options : {"", " --W 1024", " --W 1024 --sinks 4"}) {
    for (const vector<string>& row :
         markdown_rows(output("tile-map --nq 4096,8192,16384 --format md" + options))) {
      for (const string& cell : row) {
        if (cell.ends_with('%')) sparsity.push_back(cell);
      }
    }
  }
  CHECK(sparsity == vector<string>{"48.44%", "49.22%", "49.61%", "75.39%", "86.82%", "93.19%",
                                   "73.14%", "85.47%", "92.46%"});
}

TEST_CASE("tile-map --rule shows what other kernels visit") {
  // Interior query tiles at W = 1024, counted in the source of each kernel by hand: FlashInfer
  // visits one tile more, FlashAttention 3 masks three tiles where two are partial.
  const auto per_tile = [](const string& options, const char* key) {
    const auto count = [&](int n) {
      return records_of("tile-map --nq " + std::to_string(n) + " --W 1024 " + options)[0][key]
          .get<double>();
    };
    const double BM = records_of("tile-map --nq 8192 --W 1024 " + options)[0]["BM"];
    return (count(24576 * 2) - count(24576)) / (24576 / BM);
  };
  const string d128 = "--head-dim 128 --rule ";
  CHECK(per_tile(d128 + "exact", "visited") == 9);
  CHECK(per_tile(d128 + "exact", "masked") == 2);
  CHECK(per_tile(d128 + "fa3", "visited") == 9);
  CHECK(per_tile(d128 + "fa3", "masked") == 3);
  CHECK(per_tile(d128 + "fa2", "visited") == 18);  // of 128 x 64
  CHECK(per_tile(d128 + "fa2", "masked") == 18);
  CHECK(per_tile(d128 + "flashinfer", "visited") == 10);
  CHECK(per_tile(d128 + "flashinfer", "empty") == 1);
  CHECK(per_tile(d128 + "flex", "visited") == 9);
  CHECK(per_tile("--head-dim 64 --rule fa3", "visited") == 10);  // of 192 x 128
  CHECK(per_tile("--head-dim 64 --rule flashinfer", "visited") == 11);
  CHECK(per_tile("--head-dim 256 --rule fa3", "visited") == 18);  // of 128 x 64
  // Blocks that hang over the end are never full to FlexAttention.
  const auto full = [](const string& rule) {
    return records_of("tile-map --nq 300 --no-causal --rule " + rule)[0]["full"].get<int>();
  };
  CHECK(full("exact") == 9);
  CHECK(full("flex") == 4);
}

TEST_CASE("tile-map --kernel launches as bench --plan says, and counts what is issued") {
  const string problem =
      "--nq 1,5,3000 --nk 3000 --W 128,none --sinks 0,4 --heads 28 --kv-heads 4 ";
  const json plans =
      records_of("bench --plan " + problem + "--dtype bf16 --head-dim 128 --kernel portable-*");
  const json maps = records_of("tile-map " + problem + "--head-dim 128 --kernel portable-*");
  REQUIRE(plans.size() == 36);
  REQUIRE(maps.size() == plans.size());
  for (std::size_t i = 0; i < maps.size(); ++i) {
    CAPTURE(maps[i].dump());
    for (const auto& [key, value] : plans[i].items()) {
      CAPTURE(key);
      if (key != "repro" && key != "chosen") CHECK(maps[i][key] == value);
    }
    if (!maps[i]["supported"]) {
      CHECK(maps[i]["visited"].is_null());
      continue;
    }
    const auto number = [&](const char* key) { return maps[i][key].get<double>(); };
    // A prefill block has the tiles of its heads, a walk of decode those of a kv head.
    const double shared = maps[i]["kernel"] == "portable-decode" ? 7 : number("heads");
    CHECK(number("visited") * number("BM") * number("BN") * 28 / shared == number("issued_pairs"));
    CHECK(number("full") + number("partial") + number("empty") == number("visited"));
    // K and V of a walk are shared; 128 + 128 elements of two bytes.
    const double tokens = number("n_q") + number("visited") * number("BN") / shared;
    CHECK(number("walked_bytes") == doctest::Approx(tokens * 512));
    CHECK(number("visible_pairs") * 28 / number("issued_pairs") ==
          doctest::Approx(number("useful_share")));
  }
}

TEST_CASE("tile-map --kernel of one head is the map of the kernel's tile") {
  const auto numbers = [](const string& options) {
    return records_of("tile-map --nq 1000 --nk 1300 --W 100 --sinks 3 --head-dim 128 " +
                      options)[0];
  };
  for (const auto& [kernel, tile] : vector<std::pair<string, string>>{
           {"portable-prefill", "--BM 128 --BN 64"}, {"cpu-tiled", "--BM 64 --BN 64"}}) {
    CAPTURE(kernel);
    const json map = numbers("--kernel " + kernel), exact = numbers(tile);
    for (const char* key :
         {"BM", "BN", "full", "partial", "empty", "skipped", "visited", "sparsity", "partial_share",
          "partial_max_per_query_tile", "visible_pairs", "useful_flops", "issued_flops",
          "least_bytes", "walked_bytes"}) {
      CAPTURE(key);
      CHECK(map[key] == exact[key]);
    }
    CHECK(map["useful_share"] == exact["useful_fraction"]);
    CHECK(map["masked"] == (kernel == "cpu-tiled" ? exact["masked"] : json()));
  }
  CHECK(numbers("--kernel cpu-tiled")["grid"].is_null());
  const json all = numbers("--kernel portable-mask-only");
  CHECK(all["visited"] == 8 * 21);
  CHECK(all["masked"] == all["visited"]);
  CHECK(all["skipped"] == 0);
}

TEST_CASE("tile-map --show draws what the rule visits") {
  const string line = "tile-map --nq 1000 --W 100 --BM 64 --BN 64 --rule flashinfer --show";
  const json record = records_of(line)[0];
  CHECK(record["empty"] == 13);
  std::int64_t letters = 0;
  for (const string row : record["tiles"]) letters += std::count(row.begin(), row.end(), 'E');
  CHECK(letters == 13 + 1);  // and the legend's
}

TEST_CASE("tile-map --layers sums a stack") {
  const string line = "tile-map --nq 8192 --W 1024 --layers LLLLLG";
  const vector<json> kinds = records_of(line, "layers"), stack = records_of(line, "stack");
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[0]["visited"] == 5 * 540);
  CHECK(kinds[1]["visited"] == 2080);
  CHECK(kinds[1]["window"].is_null());
  REQUIRE(stack.size() == 1);
  CHECK(stack[0]["visited"] == 5 * 540 + 2080);
  CHECK(stack[0]["layers"] == 6);
  // A window for each layer.
  const string mixed = "tile-map --nq 8192 --layers 1024,4096,none,1024";
  CHECK(records_of(mixed, "layers").size() == 3);
  CHECK(records_of(mixed, "layers")[0]["layers"] == 2);
  CHECK(records_of(mixed, "stack")[0]["visited"] == 2 * 540 + 1584 + 2080);
  // Each kind has the tile that its kernel has for it.
  const vector<json> fa3 =
      records_of("tile-map --nq 8192 --W 512 --layers LG --rule fa3 --head-dim 256", "layers");
  CHECK(fa3[0]["BN"] == 64);
  CHECK(fa3[1]["BN"] == 80);
  // The global layers beside a two-sided window see all keys.
  const vector<json> both =
      records_of("tile-map --nq 64 --mask modernbert:6 --layers LG", "layers");
  CHECK(both[1]["visible_pairs"] == 64 * 64);
}

TEST_CASE("tile-map --show-mask draws blocks of a mask that is too large to draw") {
  const vector<string> drawn = lines(output("tile-map --nq 1Ti --W 1Gi --show-mask"));
  const auto note = std::find_if(drawn.begin(), drawn.end(), [](const string& line) {
    return contains(line, "in blocks of 8589934592 x 8589934592");
  });
  REQUIRE(note != drawn.end());
  CHECK(drawn.end() - note == 129);
  CHECK(contains(*(note + 2), " + + ."));  // the window is an eighth of a block wide
  CHECK_FALSE(contains(*(note + 2), "x"));
  const string text = output("tile-map --nq 256 --show-mask");
  CHECK(contains(text, "in blocks of 2 x 2"));
  CHECK(contains(text, "  x x x x + . ."));
}

TEST_CASE("2^40 tokens are counted in an instant") {
  for (const string options :
       {"", " --W 4096", " --W 4095 --BM 192", " --mask chunked:8192", " --W 1000 --sinks 4",
        " --W 1000 --rule exact,fa2,fa3,flashinfer,flex"}) {
    double least = 1e9;  // of a few, since other tests run beside this one
    for (int i = 0; i < 5; ++i) {
      const Finished run = run_swa("tile-map --nq 1Ti" + options);
      CHECK(run.status == 0);
      least = std::min(least, run.seconds);
    }
    CHECK(least < (kSanitized ? 5.0 : 0.05));
  }
}

TEST_CASE("a batch of lengths is the sum of its sequences") {
  const json batch = records_of("tile-map --lengths-q 100,7,0 --lengths-k 300,7,5 --W 20")[0];
  std::int64_t pairs = 0, visited = 0;
  for (const string one : {"--nq 100 --nk 300", "--nq 7 --nk 7"}) {
    const json record = records_of("tile-map " + one + " --W 20")[0];
    pairs += record["visible_pairs"].get<std::int64_t>();
    visited += record["visited"].get<std::int64_t>();
  }
  CHECK(batch["visible_pairs"] == pairs);
  CHECK(batch["visited"] == visited);
  CHECK(batch["layout"] == "packed");
  CHECK(batch["lengths_q"] == json({100, 7, 0}));
  const string text = output("verify --lengths-q 100,7,0 --lengths-k 300,7,5 --W 20 --sinks 2");
  CHECK(contains(text, "3 sequences, packed: 100, 7, 0 queries on 300, 7, 5 keys"));
  CHECK(contains(text, "1 of 1 passed"));
}

TEST_CASE("tile-map --conventions prints a line for each system") {
  const vector<json> table = records_of("tile-map --W 128 --conventions", "convention");
  CHECK(table.size() > 20);
  const string text = output("tile-map --W 128 --conventions");
  for (const string call : {"window_size=(127, 0)", "sliding_window=128", "window_left=127",
                            "diagonal_band_left_bound=128", "-mask=b:127,0"}) {
    CHECK(contains(text, call));
  }
  output("tile-map --W 3 --sinks 9 --conventions");  // no size, and still no complaint
}

TEST_CASE("spellings of one window are one window") {
  const auto numbers = [](const string& options) {
    json record = records_of("tile-map --nq 100 --nk 130 " + options)[0];
    record.erase("repro");
    return record;
  };
  CHECK(numbers("--W 9") == numbers("-W 9"));
  CHECK(numbers("--W 9") == numbers("--window 9"));
  CHECK(numbers("--W 9") == numbers("--W=9"));
  CHECK(numbers("--W 9") == numbers("--left 8"));
  CHECK(numbers("--W 9") == numbers("--left 8 --right 0 --causal"));
  CHECK(numbers("--W none") == numbers("--causal"));
  CHECK(numbers("--W none") == numbers("--left none"));
  CHECK(numbers("--no-causal") == numbers("--left none --right none"));
  CHECK(numbers("--left 8 --no-causal") == numbers("--left 8 --right none"));
  for (const string mask : {"fa:8,0", "flashinfer:8", "hf:9", "xformers:9", "llama.cpp:9",
                            "ck:b:8,0", "cudnn:9 --anchor bottom-right", "fa:8,-1 --causal"}) {
    CAPTURE(mask);
    CHECK(numbers("--W 9") == numbers("--mask " + mask));
  }
  CHECK(numbers("--W 9 --anchor top-left") == numbers("--mask ck:t:8,0"));
  CHECK(numbers("--W 9 --anchor top-left") == numbers("--mask cudnn:9"));
  CHECK(numbers("--left 8 --right 3") == numbers("--mask fa:8,3"));
}

// --- verify ----------------------------------------------------------------------------------

TEST_CASE("verify --W 100 --nq 96 --nk 600 passes and shows its bound") {
  const string text = output("verify --W 100 --nq 96 --nk 600");
  CHECK(contains(text, "cpu-tiled"));
  CHECK(contains(text, "bound: |error| <="));
  CHECK(contains(text, "1 of 1 passed"));

  const json report = report_of("verify --W 100 --nq 96 --nk 600");
  if (report["summary"]["gpu"] != "run") CHECK(contains(text, "GPU kernels: not run"));
  const json record = report["records"][0];
  CHECK(record["status"] == "pass");
  CHECK(record["max_err"] < 1e-6);
  CHECK(record["max_err"] <= record["bound"]);
  CHECK(record["nonfinite"] == 0);
  CHECK(record["mismatches"] == 0);
  CHECK(record["elements"] == 96 * 64);
}

TEST_CASE("verify runs the chapter's suite") {
  const json records = records_of("verify --suite chapter --kernel cpu-tiled");
  CHECK(records == records_of("verify --kernel cpu-tiled"));
  struct Row {
    int n_q, n_k, window, heads;
  };
  const vector<Row> expected{{500, 500, 100, 2},   {500, 500, 128, 2},   {500, 500, 10000, 2},
                             {96, 600, 128, 2},    {1, 600, 128, 2},     {1000, 1000, 100, 1},
                             {1000, 1000, 128, 1}, {1000, 1000, 1001, 1}};
  REQUIRE(records.size() == 10);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const json& record = records[i];
    CAPTURE(record.dump());
    CHECK(record["status"] == "pass");
    CHECK(record["dtype"] == "fp32");
    CHECK(record["max_err"] < 1e-6);
    CHECK(record["nonfinite"] == 0);
    if (i >= expected.size()) continue;
    CHECK(record["n_q"] == expected[i].n_q);
    CHECK(record["n_k"] == expected[i].n_k);
    CHECK(record["window"] == expected[i].window);
    CHECK(record["heads_q"] == expected[i].heads);
  }
}

TEST_CASE("verify takes every kind of problem") {
  const json records = records_of(
      "verify --nq 1,70 --nk 64,71 --W none,1,30 --heads 4 --kv-heads 2 --batch 2 --head-dim 8 "
      "--sinks 0,3 --dtype fp64,fp32,bf16,fp16 --sink-logits --softcap 30 --scale 0.3 --seed 7 "
      "--anchor top-left --BM 16 --BN 24 --kernel cpu-*");
  CHECK(records.size() == 2 * 2 * 3 * 2 * 4);
  for (const json& record : records) CHECK(record["status"] == "pass");
}

// --- trap-demo -------------------------------------------------------------------------------

TEST_CASE("trap-demo nan finds the chapter's rows, and both cures hold") {
  CHECK(contains(output("trap-demo nan"), "as predicted"));
  const json records = records_of("trap-demo nan", "nan");
  const json rows{0, 382, 13, 210};
  const json first{nullptr, 163, 191, 363};
  REQUIRE(records.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    if (i > 0) CHECK(records[i]["window"] == json{nullptr, 100, 128, 300}[i]);
    CHECK(records[i]["nan_rows"] == rows[i]);
    CHECK(records[i]["predicted_nan_rows"] == rows[i]);
    CHECK(records[i]["first_nan_row"] == first[i]);
    CHECK(records[i]["max_err_other_rows"] < 1e-14);
    CHECK(records[i]["guarded_nan_rows"] == 0);
    CHECK(records[i]["reverse_nan_rows"] == 0);
  }
  for (const json& record : records_of("trap-demo nan --guard on", "nan")) {
    CHECK(record["nan_rows"] == 0);
  }
}

TEST_CASE("the reverse walk is no cure where the diagonal tile misses a row's own key") {
  const auto lost = [](const string& options) {
    return records_of("trap-demo nan --W 100 --order reverse " + options, "nan")[0]["nan_rows"]
        .get<int>();
  };
  CHECK(lost("--BM 64 --BN 64") == 0);
  CHECK(lost("--BM 64 --BN 32") > 0);
  CHECK(lost("--n 600 --chunk 96") > 0);
}

TEST_CASE("trap-demo off-by-one, alignment and rope-slot print the chapter's figures") {
  const json one = records_of("trap-demo off-by-one", "off-by-one")[0];
  CHECK(one["window"] == 128);
  CHECK(printed("%.3e", one["max_err"]) == "1.749e-01");
  CHECK(one["rows_affected"] == 896);
  CHECK(contains(output("trap-demo off-by-one"), "1.749e-01"));

  const json two = records_of("trap-demo alignment", "alignment")[0];
  CHECK(two["window"] == 128);
  CHECK(two["chunk"] == 256);
  CHECK(printed("%.3e", two["max_err_top_left"]) == "2.462e+00");
  CHECK(two["max_err_bottom_right"] == 0);
  CHECK(two["keys_seen_top_left"] == 1);
  CHECK(two["keys_seen_bottom_right"] == 128);
  CHECK(contains(output("trap-demo alignment"), "2.462e+00"));

  const json three = records_of("trap-demo rope-slot", "rope-slot")[0];
  CHECK(three["window"] == 8);
  CHECK(three["steps"] == 40);
  CHECK(printed("%.2e", three["max_err_slot_rope"]) == "1.61e+00");
  CHECK(three["max_err_ring"] < 1e-14);
  CHECK(three["first_wrong_step"] == 8);
  CHECK(contains(output("trap-demo rope-slot"), "1.61e+00"));
}

TEST_CASE("a trap that cannot show is as predicted too") {
  CHECK(records_of("trap-demo off-by-one --n 100 --W 128")[0]["rows_affected"] == 0);
  CHECK(records_of("trap-demo rope-slot --n 8 --W 8")[0]["first_wrong_step"].is_null());
  CHECK(records_of("trap-demo nan --W 1")[0]["nan_rows"] == 0);
}

// --- ring-sim --------------------------------------------------------------------------------

TEST_CASE("ring-sim prints the chapter's slots") {
  const json slots = records_of("ring-sim", "slots");
  struct Row {
    int step, slot;
    json positions;
  };
  const vector<Row> expected{{5, 5, {0, 1, 2, 3, 4, 5}},
                             {7, 7, {0, 1, 2, 3, 4, 5, 6, 7}},
                             {8, 0, {8, 1, 2, 3, 4, 5, 6, 7}},
                             {9, 1, {8, 9, 2, 3, 4, 5, 6, 7}},
                             {39, 7, {32, 33, 34, 35, 36, 37, 38, 39}}};
  REQUIRE(slots.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(slots[i]["step"] == expected[i].step);
    CHECK(slots[i]["slot"] == expected[i].slot);
    CHECK(slots[i]["positions"] == expected[i].positions);
  }
  const string text = output("ring-sim");
  CHECK(contains(text, "[8, 9, 2, 3, 4, 5, 6, 7]"));
  CHECK(contains(text, "1.61e+00"));

  const json trial = records_of("ring-sim", "trial")[0];
  CHECK(trial["max_err_ring"] < 1e-14);
  CHECK(printed("%.2e", trial["max_err_slot_rope"]) == "1.61e+00");
  CHECK(trial["first_wrong_step"] == 8);
}

TEST_CASE("ring-sim --prefill 20 shows exercise 4") {
  CHECK(contains(output("ring-sim --prefill 20"), "19 of 20 rows are wrong, 12 see nothing"));
  const json trial = records_of("ring-sim --prefill 20", "trial")[0];
  CHECK(trial["wrong_rows_write_first"] == 19);
  CHECK(trial["blind_rows_write_first"] == 12);
  CHECK(trial["wrong_rows_write_after"] == 0);
  CHECK(trial["max_err_write_after"] < 1e-14);
}

TEST_CASE("ring-sim counts live pages, and its bound is the tight one") {
  const json trial = records_of("ring-sim --W 128 --steps 512 --page 16", "trial")[0];
  CHECK(trial["max_live_pages"] == 9);
  CHECK(trial["live_slots"] == 144);
  // The chapter's ceil(W / page) + 1 says 10 here.
  const json loose = records_of("ring-sim --W 129 --steps 512 --page 16", "trial")[0];
  CHECK(loose["max_live_pages"] == 9);
  CHECK(loose["most_live_pages_bound"] == 9);
}

// --- reproduce -------------------------------------------------------------------------------

TEST_CASE("reproduce --check finds no figure wrong") {
  const json report = report_of("reproduce --check");
  CHECK(report["schema"] == "swa.reproduce/1");
  std::int64_t waiting = 0, other = 0, right = 0;
  std::map<string, string> ours;
  for (const json& record : report["records"]) {
    CAPTURE(record.dump());
    for (const char* key : {"table", "row", "class", "chapter", "ours", "verdict"}) {
      CHECK(record[key].is_string());
    }
    const string kind = record["class"];
    waiting += kind == "waiting";
    other += kind == "other kernel";
    right += record["verdict"] == "ok";
    // A class that is not judged is its own verdict.
    CHECK(record["verdict"] == (kind == "waiting" || kind == "other kernel" ? kind : "ok"));
    CHECK(record["note"].is_string() == (kind == "other kernel"));
    ours[record["table"].get<string>() + ": " + record["row"].get<string>()] = record["ours"];
  }
  CHECK(other == 6);
  CHECK(waiting == (swa::gpu_absence().empty() ? 1 : 10));
  CHECK(report["summary"]["figures"] == report["records"].size());
  CHECK(report["summary"]["right"] == right);
  CHECK(report["summary"]["other_kernel"] == other);
  CHECK(report["summary"]["waiting"] == waiting);
  CHECK(report["summary"]["wrong"] == 0);

  const std::map<string, string> expected{
      {"kv-budget: mistral-7b-v0.1 stacked reach", "131040"},
      {"reference: W=64 max |o - causal|", "8.321e-01"},
      {"reference: W=256 max |o - causal|", "3.033e-01"},
      {"reference: W=512 max |o - causal|", "0.000e+00"},
      {"reference: W=1024 max |o - causal|", "0.000e+00"},
      {"reference: W=64 keys scored", "30752"},
      {"tiled: most PARTIAL per query tile", "3"},
      {"flex: 8192 tiles that sinks add", "55"},
      {"nan-trap: W=100 NaN rows", "382"},
      {"nan-trap: W=100 first NaN row", "163"},
      {"alignment-trap: window_size=(128, 0) max err", "1.749e-01"},
      {"alignment-trap: window_size=(128, 0) rows affected", "896"},
      {"alignment-trap: chunk top-left max err", "2.462e+00"},
      {"alignment-trap: decode top-left sees key", "0"},
      {"ring: RoPE by slot", "1.61e+00"},
      {"ring: live blocks of 16, W=128", "9"},
      {"ring: live token slots, W=128", "144"},
      {"exercises: 1: BN=32, PARTIAL", "75"},
      {"exercises: 4: rows wrong of 20, written before", "19"},
      {"exercises: 5: most global layers of 46 under 10 GiB", "9"},
  };
  for (const auto& [row, figure] : expected) {
    CAPTURE(row);
    CHECK(ours[row] == figure);
  }
}

TEST_CASE("reproduce --check names exactly the figure that does not come out") {
  const DataCopy data;
  data.replace("chapter/figures.tsv", "\t1: BN=32, PARTIAL\t75", "\t1: BN=32, PARTIAL\t76");
  const Finished run = run_swa("reproduce --check --format csv", data.setup());
  CHECK(run.status == 1);
  CHECK(run.err.empty());
  const auto tables = csv_tables(run.out);
  REQUIRE(tables.size() == 1);
  vector<string> wrong;
  for (const vector<string>& row : tables[0]) {
    REQUIRE(row.size() == 9);
    if (row[0] == "other kernel") continue;
    if (row[0] != "ok" && row[0] != "waiting" && row[0] != "verdict") wrong.push_back(row[2]);
  }
  CHECK(wrong == vector<string>{"1: BN=32, PARTIAL"});
}

TEST_CASE("reproduce without --check shows a wrong figure and succeeds") {
  const DataCopy data;
  data.replace("chapter/figures.tsv", "\t1: BN=32, PARTIAL\t75", "\t1: BN=32, PARTIAL\t76");
  CHECK(contains(output("reproduce", data.setup()), "1 do not come out"));
}

// --- formats ---------------------------------------------------------------------------------

TEST_CASE("JSON says what was run, with what") {
  const string version = lines(output("--version")).at(0);
  CHECK(version.starts_with("swa "));
  for (const string& line : kEach) {
    CAPTURE(line);
    const json report = report_of(line);
    const Words typed = words(line + " --format json");
    CHECK(report["schema"] == "swa." + typed[0] + "/1");
    CHECK(report["tool"]["name"] == "swa");
    CHECK("swa " + report["tool"]["version"].get<string>() == version);
    REQUIRE(report.contains("device"));
    CHECK((report["device"].is_null() || report["device"].is_string()));
    CHECK(report["argv"] == json(typed));
    REQUIRE(report["records"].is_array());
    CHECK_FALSE(report["records"].empty());
    for (const json& record : report["records"]) CHECK(record.is_object());
  }
}

TEST_CASE("JSON lines and CSV hold the records of JSON") {
  for (const string& line : kEach) {
    CAPTURE(line);
    const json report = report_of(line);
    const vector<string> jsonl = lines(output(line + " --format jsonl"));
    REQUIRE(jsonl.size() == report["records"].size());
    std::size_t i = 0;
    for (json expected : report["records"]) {
      expected["schema"] = report["schema"];
      CHECK(parse(jsonl[i++]) == expected);
    }

    std::size_t rows = 0;
    for (const auto& table : csv_tables(output(line + " --format csv"))) {
      REQUIRE_FALSE(table.empty());
      for (const vector<string>& row : table) CHECK(row.size() == table[0].size());
      rows += table.size() - 1;
    }
    CHECK(rows == report["records"].size());
  }
}

TEST_CASE("Markdown has tables of even rows, and text is the default") {
  for (const string& line : kEach) {
    CAPTURE(line);
    const vector<vector<string>> rows = markdown_rows(output(line + " --format md"));
    CHECK_FALSE(rows.empty());
    CHECK(output(line) == output(line + " --format text"));
  }
  for (const vector<string>& row : markdown_rows(output("kv-budget --format md"))) {
    CHECK(row.size() == 8);
  }
}

TEST_CASE("records have the keys that scripts rely on") {
  struct Row {
    string line, table;
    string integers, numbers, words, others;  // keys, separated by blanks
  };
  const vector<Row> rows{
      {"verify --nq 70 --W 5", "", "nonfinite mismatches", "max_err bound", "kernel status repro",
       "worst"},
      {"kv-budget", "", "context bytes bytes_all_global layers_global layers_local", "saving",
       "model repro", "supported"},
      {"tile-map --nq 192 --W 40", "",
       "full partial empty skipped visited visible_pairs partial_max_per_query_tile",
       "sparsity useful_fraction", "repro", ""},
      {"trap-demo nan --W 100", "nan", "window nan_rows first_nan_row predicted_nan_rows",
       "max_err_other_rows", "verdict", ""},
      {"trap-demo off-by-one", "off-by-one", "window rows_affected", "max_err", "verdict", ""},
      {"trap-demo alignment", "alignment", "window chunk keys_seen_top_left keys_seen_bottom_right",
       "max_err_top_left max_err_bottom_right", "verdict", ""},
      {"trap-demo rope-slot", "rope-slot", "window steps first_wrong_step",
       "max_err_ring max_err_slot_rope", "verdict", ""},
      {"ring-sim", "trial", "max_live_pages window steps page", "max_err_ring", "repro", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    for (const json& record : records_of(row.line, row.table)) {
      CAPTURE(record.dump());
      for (const string& key : words(row.integers)) CHECK(record[key].is_number_integer());
      for (const string& key : words(row.numbers)) CHECK(record[key].is_number());
      for (const string& key : words(row.words)) CHECK(record[key].is_string());
      for (const string& key : words(row.others)) CHECK(record.contains(key));
    }
  }
  CHECK(records_of("verify --nq 70 --W 5")[0]["worst"].size() == 4);
  CHECK(records_of("kv-budget")[0]["supported"].is_boolean());
  // One quantity, one type, in every command.
  CHECK(records_of("verify --nq 8 --seed 5")[0]["seed"] == 5);
  CHECK(records_of("ring-sim --seed 5", "trial")[0]["seed"] == 5);
}

TEST_CASE("a model that is named twice does not repeat a key") {
  report_of("kv-budget --model mistral-7b-v0.1,mistral-7b-v0.1 --ctx 8");
}

TEST_CASE("a repro line gives its record again") {
  for (const string line :
       {"kv-budget --model gpt-oss-120b,gemma2-27b-5to1 --ctx 100,128Ki --dtype fp8_e5m2 -b 3",
        "tile-map --nq 100,300 --nk 200 --W none,7 --BM 16,64 --BN 32 --sinks 0,3",
        "tile-map --nq 60 --nk 90 --left 3 --right 2 --anchor top-left --dtype fp32",
        "tile-map --nq 60 --nk 90 --no-causal --head-dim 128",
        "tile-map --nq 60 --left 3 --no-causal",
        "verify --nq 8,70 --nk 70 --W none,3 --heads 4 --kv-heads 2 --batch 2 --head-dim 8",
        "verify --nq 9 --W 3 --sinks 2 --dtype bf16,fp64 --softcap 30 --scale 0.2 --sink-logits",
        "verify --nq 9 --nk 20 --W 3 --anchor top-left --seed 18446744073709551615 --BM 4 --BN 5",
        "verify --nq 9 --W 3 --stream counter --seed 3 --inputs large --sink-logits",
        "verify --nq 9 --left 3 --right 2",
        "verify --nq 9 --no-causal --scale -1e-7",
        "verify --nq 40 --mask chunked:7 --sinks 2 --head-dim 16 --head-dim-v 24",
        "verify --lengths-q 0,1,5,6 --W 5",
        "verify --lengths-q 3,4 --lengths-k 9,0 --W 5",
        "verify --nq 9 --lengths-q 3,4 --W 5",
        "verify --nq 1 --lengths-k 7,8,9 --W 5",
        "verify --nk 20 --lengths-q 3,4 --left 5 --right 1",
        "tile-map --lengths-q 3,100,40 --lengths-k 300,100,0 --W 20 --BM 16 --BN 8",
        "tile-map --nq 5000 --mask flashinfer:300 --rule exact,fa2,fa3,flashinfer,flex",
        "tile-map --nq 500 --mask llama.cpp:chunked:64 --sinks 3",
        "tile-map --nq 1,9 --nk 300 --W 20 --heads 8 --kv-heads 2 --kernel * --dtype fp16",
        "tile-map --lengths-q 3,100 --left 9 --right 2 --kernel *prefill,cpu-* --head-dim 128"}) {
    CAPTURE(line);
    for (const json& record : records_of(line)) check_repro(record);
  }
  for (const json& record : records_of("verify")) check_repro(record, {"case"});
  for (const string line :
       {"ring-sim", "ring-sim --W 5 --steps 30 --prefill 7 --chunk 3 --page 4 --seed 9",
        "ring-sim --head-dim 32"}) {
    CAPTURE(line);
    for (const json& record : records_of(line, "trial")) check_repro(record);
  }
}

// --- help ------------------------------------------------------------------------------------

TEST_CASE("every command has help with an example that runs") {
  const string top = output("--help");
  CHECK(top == output("-h"));
  for (const string command :
       {"kv-budget", "tile-map", "verify", "trap-demo", "ring-sim", "bench", "reproduce"}) {
    CAPTURE(command);
    CHECK(contains(top, "  " + command + " "));
    const string help = output(command + " --help");
    CHECK(help == output(command + " -h"));
    CHECK(contains(help, "Usage: swa " + command));
    CHECK(contains(help, "--format"));
    CHECK(contains(help, "--export"));
    const std::size_t at = help.find("Example:\n  swa " + command);
    REQUIRE(at != string::npos);
    output(lines(help.substr(at)).at(1));
  }
}

// --- data folders ----------------------------------------------------------------------------

TEST_CASE("a data folder that is not there is said where it is needed") {
  const Setup nowhere{{{"SWA_DATA_DIR", "/nonexistent"}}};
  for (const string line : {"kv-budget", "verify", "verify --suite chapter", "reproduce"}) {
    CAPTURE(line);
    const Finished run = run_swa(line, nowhere);
    CHECK(run.status == 3);
    CHECK(run.out.empty());
    const vector<string> said = lines(run.err);
    REQUIRE(said.size() == 2);
    CHECK(contains(said[0], "/nonexistent"));
    CHECK(contains(said[1], "SWA_DATA_DIR"));
  }
  for (const string line : {"tile-map --nq 8", "verify --nq 8", "trap-demo off-by-one --n 70",
                            "ring-sim", "kv-budget --help"}) {
    output(line, nowhere);
  }
}

TEST_CASE("an empty SWA_DATA_DIR is none") {
  output("kv-budget", {{{"SWA_DATA_DIR", ""}}});
}

TEST_CASE("a model of one's own is read from the data folder") {
  const DataCopy data;
  data.write("models/mine.toml",
             "[[model]]\nid = \"mine\"\ntitle = \"Mine\"\nsource = \"me\"\nlayers = 3\n"
             "pattern = \"LLG\"\nwindow = 4\nkv_heads = 2\nhead_dim = 8\n");
  const json record =
      parse(output("kv-budget --model mine --ctx 100 --format json", data.setup()))["records"][0];
  // 2 heads of 8 + 8 elements of 2 bytes: 64 bytes a token and layer.
  CHECK(record["bytes"] == 64 * (4 + 4 + 100));
  CHECK(record["bytes_all_global"] == 64 * 300);
  CHECK(record["layers_local"] == 2);
}

TEST_CASE("a broken data file is named with its line") {
  struct Row {
    string command, file, text, place;
  };
  const string model =
      "[[model]]\nid = \"mine\"\ntitle = \"Mine\"\nsource = \"me\"\nlayers = 2\nkv_heads = 2\n"
      "head_dim = 8\npattern = ";  // line 8
  const string one_case = "[[case]]\nname = \"a\"\nn_q = 4\n";
  const vector<Row> rows{
      {"kv-budget", "models/mine.toml", "[[model]]\nid = [\n", "models/mine.toml:"},
      {"kv-budget", "models/mine.toml", model + "\"LX\"\nwindow = 4\n", "models/mine.toml:8: "},
      {"kv-budget", "models/mine.toml", model + "\"LG\"\nwindow = 0\n", "models/mine.toml:9: "},
      {"kv-budget", "models/mine.toml", model + "\"LG\"\nwindow = -1\n", "models/mine.toml:9: "},
      {"kv-budget", "models/mine.toml", model + "\"LG\"\nwindow = 4.5\n", "models/mine.toml:9: "},
      {"kv-budget", "models/mine.toml", model + "\"LG\"\n", "models/mine.toml:1: "},
      {"kv-budget", "models/mine.toml", model + "\"G\"\nwindows = 4\n", "models/mine.toml:9: "},
      {"kv-budget", "models/mine.toml", model + "\"G\"\nhypothetical = \"yes\"\n",
       "models/mine.toml:9: "},
      {"kv-budget", "models/mine.toml", model + "\"G\"\n" + model + "\"G\"\n", "mine"},  // twice
      {"kv-budget", "models/mine.toml", "[[modle]]\n", "models/mine.toml"},
      {"kv-budget", "models/mine.toml", "\xff\xfe", "models/mine.toml:1: "},
      {"verify", "cases/chapter.toml", "[[case]\n", "cases/chapter.toml:1: "},
      {"verify", "cases/chapter.toml", "case = []\n", "cases/chapter.toml"},
      {"verify", "cases/chapter.toml", "", "cases/chapter.toml"},
      {"verify", "cases/chapter.toml", one_case + "window = 0\n", "cases/chapter.toml:4: "},
      {"verify", "cases/chapter.toml", one_case + "windw = 3\n", "cases/chapter.toml:4: "},
      {"verify", "cases/chapter.toml", one_case + "sinks = 5\n", "cases/chapter.toml:4: "},
      {"verify", "cases/chapter.toml", one_case + "heads_q = 3\nheads_kv = 2\n",
       "cases/chapter.toml:4: "},
      {"reproduce", "chapter/figures.tsv", "tiled\tno third\n", "chapter/figures.tsv:1: "},
      {"reproduce", "chapter/figures.tsv", "a\tb\tc\n\na\tb\td\n", "chapter/figures.tsv:3: "},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const DataCopy data;
    data.write(row.file, row.text);
    const Finished run = run_swa(row.command, data.setup());
    INFO("stderr: ", run.err);
    CHECK(run.status == 2);
    CHECK(run.signal == 0);
    CHECK(run.out.empty());
    CHECK(contains(run.err, row.place));
    CHECK(lines(run.err).size() <= 2);
  }
}

TEST_CASE("a catalogue without models is said") {
  const DataCopy data;
  for (const auto& entry : std::filesystem::directory_iterator(data.folder() / "models")) {
    std::filesystem::remove(entry.path());
  }
  for (const string line : {"kv-budget", "kv-budget --model gemma2-27b"}) {
    CAPTURE(line);
    const Finished run = run_swa(line, data.setup());
    CHECK((run.status == 2 || run.status == 3));
    CHECK(run.out.empty());
    CHECK(contains(run.err, "models"));
  }
}

// --- streams ---------------------------------------------------------------------------------

TEST_CASE("a run gives the same bytes each time") {
  for (const string& line : kEach) {
    CAPTURE(line);
    CHECK(output(line + " --format json") == output(line + " --format json"));
  }
}
