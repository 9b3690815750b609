// --export as people meet it: files beside the report, and refusals before the work.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "folder.hpp"
#include "process.hpp"
#include "scratch.hpp"
#include "xml.hpp"

using namespace swa::test;
using nlohmann::json;
using std::string;
using std::vector;

namespace {

const vector<string> kEveryCommand{
    "kv-budget --ctx 8Ki",       "tile-map --nq 192 --W 40 --BM 16 --BN 16 --show",
    "verify --nq 20 --W 5",      "trap-demo off-by-one --n 70 --W 3",
    "ring-sim --W 4 --steps 11", "reproduce"};

json without_argv(const string& text) {
  json report = json::parse(text);
  report.erase("argv");
  return report;
}

void check_refused_at_once(const string& line, const string& part) {
  CAPTURE(line);
  const Finished run = run_swa(line, {.timeout = 5});
  CHECK(run.status == 2);
  CHECK(run.out.empty());
  CHECK_MESSAGE(contains(run.err, part), run.err);
  CHECK(lines(run.err).size() == 2);
  CHECK(run.seconds < kSecond);
}

}  // namespace

TEST_CASE("every command exports the report that it prints") {
  for (const string& command : kEveryCommand) {
    CAPTURE(command);
    const Scratch scratch;
    const string folder = scratch.folder() + "/";
    const Finished plain = run_swa(command);
    const Finished run = run_swa(command + " --export " + folder + "r.json," + folder + "r.jsonl," +
                                 folder + "r.csv," + folder + "r.md," + folder + "r.txt");
    CHECK(run.err.empty());
    CHECK(run.status == plain.status);
    CHECK(run.out == plain.out);
    CHECK(content_of(folder + "r.txt") == plain.out);
    CHECK(names_in(scratch.folder()).size() == 5);
    if (command == "reproduce") continue;  // it takes seconds
    for (const string format : {"csv", "md", "jsonl"}) {
      CAPTURE(format);
      CHECK(content_of(folder + "r." + format) == run_swa(command + " --format " + format).out);
    }
    CHECK(without_argv(content_of(folder + "r.json")) ==
          without_argv(run_swa(command + " --format json").out));
  }
}

TEST_CASE("a wrong export is refused before any work") {
  const Scratch scratch;
  const string file = scratch.folder() + "/x";
  const string long_run = "verify --nq 16Ki --heads 8 --W 4096 --export ";
  check_refused_at_once(long_run + "/no/such/folder/x.json", "no such folder");
  check_refused_at_once(long_run + file, "suffix");
  check_refused_at_once(long_run + file + ".png", "suffix");
  check_refused_at_once(long_run + file + ".svg", "at most 256");
  check_refused_at_once(long_run + file + ".csv," + file + ".csv", "more than once");
  check_refused_at_once(long_run + file + ".csv --export " + file + ".md", "more than once");
  for (const string command : {"trap-demo nan", "reproduce"}) {
    check_refused_at_once(command + " --export " + file + ".svg", "no figure");
  }
  CHECK(names_in(scratch.folder()).empty());
}

TEST_CASE("a figure that does not exist is refused and the report alone is not") {
  const Scratch scratch;
  const string file = scratch.folder() + "/x";
  for (const string command :
       {"tile-map --nq 32Ki --BM 64 --BN 64", "tile-map --nq 257 --show-mask",
        "tile-map --nq 64,128 --BM 16 --BN 16", "tile-map --nq 64 --W none,8 --BM 16 --BN 16",
        "tile-map --nq 64 --W 4 --reach LLLG", "ring-sim --W 17", "ring-sim --steps 49",
        "kv-budget --ctx 4Ki"}) {
    CAPTURE(command);
    check_refused_at_once(command + " --export " + file + ".svg", ": ");
    CHECK(names_in(scratch.folder()).empty());
    CHECK(run_swa(command + " --export " + file + ".csv").status == 0);
    CHECK(names_in(scratch.folder()) == std::set<string>{"x.csv"});
    std::filesystem::remove(file + ".csv");
  }
}

TEST_CASE("a full disk is an error that leaves no file and loses no report") {
  const Scratch scratch;
  const string old = scratch.write("x.svg", "old"), command = "tile-map --nq 192 --BM 16 --BN 16";
  const string plain = run_swa(command).out;
  Finished run;
  {
    const FullDisk full(1000);
    run = run_swa(command + " --export " + old);
  }
  CHECK(run.status == 3);
  CHECK(run.out == plain);
  CHECK(run.err.starts_with("swa tile-map: --export " + old + " could not be written: "));
  CHECK(content_of(old) == "old");
  CHECK(names_in(scratch.folder()) == std::set<string>{"x.svg"});
}

TEST_CASE("a run that is stopped writes no file") {
  struct Row {
    string line, kinds;
  };
  const vector<Row> rows{{"verify --nq 200:2000:1 --W none", "json,csv"},
                         {"bench --nq 64 --rounds 1000000 --max-seconds 1000", "json,csv"},
                         {"ring-sim --W 16 --steps 48 --head-dim 65536 --page 1", "svg,csv"}};
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const Scratch scratch;
    const string kind = row.kinds.substr(0, row.kinds.find(',')),
                 old = scratch.write("x." + kind, "old");
    Setup setup;
    setup.signal_after = {kSanitized ? 3 : 0.4};
    const Finished run =
        run_swa(row.line + " --export " + old + "," + scratch.folder() + "/y.csv", setup);
    INFO("stderr: ", run.err);
    CHECK(run.status == 130);
    CHECK_FALSE(run.out.empty());
    const vector<string> said = lines(run.err);
    REQUIRE(said.size() == 2);
    CHECK(said[1] == "interrupted: --export wrote no file");
    CHECK(content_of(old) == "old");
    CHECK(names_in(scratch.folder()) == std::set<string>{"x." + kind});
  }
}

TEST_CASE("an export from a folder that is gone is refused") {
  const string bash = tool_or_skip("bash");
  if (bash.empty()) return;
  const Scratch scratch;
  const Finished run = swa::test::run(
      bash,
      {"-c", "mkdir \"$0\" && cd \"$0\" && rmdir \"$0\" && \"$1\" tile-map --nq 8 --export x.csv",
       scratch.folder() + "/gone", SWA_BINARY});
  CHECK(run.status == 2);
  CHECK(run.out.empty());
  CHECK(contains(run.err, "--export x.csv: the folder you stand in is gone"));
}

TEST_CASE("an export is kept where standard output fails") {
  const Scratch scratch;
  const string file = scratch.folder() + "/x.csv";
  CHECK(run_swa("kv-budget --export " + file, {.out = Sink::full}).status == 3);
  CHECK(content_of(file) == run_swa("kv-budget --format csv").out);
}

TEST_CASE("names of a catalogue are escaped in a figure") {
  const DataCopy data;
  data.replace("models/gpt-oss.toml", "title = \"gpt-oss-120b\"", "title = 'a <b> & \"c\"'");
  const Scratch scratch;
  const string file = scratch.folder() + "/x.svg";
  const Finished run = run_swa("kv-budget --model gpt-oss-120b --export " + file, data.setup());
  CHECK(run.status == 0);
  const Element root = XmlReader::read(content_of(file));
  CHECK(says(root, "KV cache of a <b> & \"c\""));
  CHECK(says(root, "a <b> & \"c\", hybrid"));
}

TEST_CASE("every figure of the docs comes from the command beside it") {
  static const std::regex kCommand("swa (.*--export )docs/(figures/[a-z-]+\\.svg)");
  const string docs = string(SWA_SOURCE_DIR) + "/docs/";
  const string page = content_of(docs + "figures.md");
  std::set<string> made;
  for (const string& line : lines(page)) {
    std::smatch match;
    if (!std::regex_match(line, match, kCommand)) continue;
    CAPTURE(line);
    const Scratch scratch;
    const string file = scratch.folder() + "/x.svg", name = match[2];
    CHECK(run_swa(match[1].str() + file).status == 0);
    CHECK(contains(page, "](" + name + ")"));
    CHECK_MESSAGE(content_of(file) == content_of(docs + name), name, " is not what swa draws now");
    CHECK_NOTHROW(XmlReader::read(content_of(file)));
    made.insert(name.substr(name.find('/') + 1));
  }
  CHECK(made == names_in(docs + "figures"));
  CHECK(made.size() >= 5);
}
