// A run against a baseline: what is compared with what, by which measure, and the verdicts.
#include "commands/regressions.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "commands/problem_record.hpp"
#include "error.hpp"
#include "scratch.hpp"

using namespace swa;
using namespace swa::commands;
using report::ReadRecord;
using report::Value;
using std::string;

namespace {

using Cells = std::vector<std::pair<string, Value>>;

ReadRecord record(const string& kernel, std::int64_t n_q, Value seconds, Cells more = {}) {
  ReadRecord record{"old.json", 1, {{"kernel", kernel}, {"n_q", n_q}, {"n_k", n_q}}};
  record.cells.emplace_back("seconds", std::move(seconds));
  for (auto& cell : more) record.cells.push_back(std::move(cell));
  return record;
}

string text_of(const report::Table& table, std::size_t row, const string& key) {
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    if (table.columns[j].key == key) return std::get<string>(table.rows.at(row)[j]);
  }
  FAIL("no column ", key);
  return {};
}
double number_of(const report::Table& table, std::size_t row, const string& key) {
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    if (table.columns[j].key == key) return std::get<double>(table.rows.at(row)[j]);
  }
  FAIL("no column ", key);
  return 0;
}

// The verdict on the one record of each.
string verdict(const ReadRecord& now, const ReadRecord& before, double most = 0.05) {
  return text_of(compare({now}, {before}, most).table, 0, "verdict");
}

string complaint(const std::vector<ReadRecord>& now, const std::vector<ReadRecord>& before) {
  try {
    compare(now, before, 0.05);
  } catch (const UsageError& error) {
    CHECK_FALSE(error.remedy().empty());
    return error.what();
  }
  return {};
}

string percent_complaint(const string& text) {
  try {
    parse_percent("--max-regression", text);
  } catch (const UsageError& error) {
    CHECK_FALSE(error.remedy().empty());
    return error.what();
  }
  return {};
}

report::Table table_of(const std::vector<Problem>& problems) {
  const ProblemColumns columns(problems);
  report::Table table;
  for (const Problem& p : problems) {
    report::Record record;
    record.add({"kernel", "kernel"}, string("k"));
    add_mask(record, p, columns);
    add_rest(record, p, columns);
    record.hide("seconds", 2.0);
    append(table, record);
  }
  return table;
}

// As --export writes it and read_records() reads it.
std::vector<ReadRecord> through_a_file(const report::Table& table) {
  const swa::test::Scratch scratch;
  const string path = scratch.folder() + "/old.json";
  report::Report report;
  report.schema = "swa.bench/1";
  report.blocks = {table};
  std::ofstream out(path);
  write(report, report::Format::json, out);
  out.close();
  return report::read_records(path);
}

}  // namespace

TEST_CASE("a kernel is slower beyond what is allowed, and faster beyond as much") {
  CHECK(verdict(record("a", 8, 1.05), record("a", 8, 1.0)) == "same");
  CHECK(verdict(record("a", 8, 1.0501), record("a", 8, 1.0)) == "slower");
  CHECK(verdict(record("a", 8, 1.0), record("a", 8, 1.05)) == "same");
  CHECK(verdict(record("a", 8, 1.0), record("a", 8, 1.0501)) == "faster");
  CHECK(verdict(record("a", 8, 1.0), record("a", 8, 1.0), 0) == "same");
  CHECK(verdict(record("a", 8, 2.9), record("a", 8, 1.0), 2) == "same");
  CHECK(verdict(record("a", 8, 3.1), record("a", 8, 1.0), 2) == "slower");
  const auto result = compare({record("a", 8, 3.0), record("b", 8, std::int64_t{1})},
                              {record("b", 8, 1.0), record("a", 8, 2.0)}, 0.05);
  REQUIRE(result.table.rows.size() == 2);
  CHECK(result.slower == 1);
  CHECK(result.same == 1);
  CHECK(text_of(result.table, 0, "kernel") == "a");
  CHECK(text_of(result.table, 0, "by") == "seconds");
  CHECK(number_of(result.table, 0, "before") == 2.0);
  CHECK(number_of(result.table, 0, "now") == 3.0);
  CHECK(number_of(result.table, 0, "change_percent") == doctest::Approx(50));
}

TEST_CASE("cycles are compared where both records have them") {
  const auto with = [](Value cycles, double seconds) {
    return record("a", 8, seconds, {{"cycles", std::move(cycles)}});
  };
  // The clock was half as fast.
  CHECK(verdict(with(1000.0, 2), with(std::int64_t{1000}, 1)) == "same");
  CHECK(verdict(with(2000.0, 1), with(1000.0, 1)) == "slower");
  for (const Value& none : {Value(), Value(0.0), Value(string("1000")), Value(-5.0),
                            Value(std::numeric_limits<double>::infinity())}) {
    CHECK(verdict(with(none, 1), with(9000.0, 1)) == "same");
    CHECK(verdict(with(9000.0, 2), with(none, 1)) == "slower");
  }
  CHECK(verdict(record("a", 8, 1.0), with(9000.0, 1)) == "same");
  // One has cycles alone, and the other seconds.
  const auto result = compare({with(5.0, 1), record("b", 8, 1.0)},
                              {with(5.0, 1), record("b", 8, Value(), {{"cycles", 7.0}})}, 0.05);
  CHECK(result.unmeasured == 1);
  CHECK(result.table.rows.size() == 1);
  CHECK(result.missing == 0);
}

TEST_CASE("records are compared where all that states the problem is equal") {
  Problem p;
  p.n_q = p.n_k = 64;
  Problem other_seed = p;
  other_seed.seed = 5;
  const auto baseline = through_a_file(table_of({p}));
  CHECK(compare(report::records_of(table_of({p})), baseline, 0).same == 1);
  CHECK(compare(report::records_of(table_of({other_seed})), baseline, 0).same == 1);
  std::vector<Problem> others(14, p);
  others[0].n_q = 32;
  others[1].n_k = 65;
  others[2].window = Window::causal(8);
  others[3].window = Window::chunked(8);
  others[4].sinks = 2;
  others[5].anchor = Anchor::top_left;
  others[6].batch = 2;
  others[7].heads_q = 2;
  others[8].head_dim = 32;
  others[9].dtype = Dtype::bf16;
  others[10].softcap = 30;
  others[11].sink_logits = true;
  others[12].lengths_k = {64};
  others[13].scale = 0.7;
  for (std::size_t i = 0; i < others.size(); ++i) {
    CAPTURE(i);
    CHECK(complaint(report::records_of(table_of({others[i]})), baseline) != "");
    CHECK(
        compare(report::records_of(table_of({others[i]})), through_a_file(table_of({others[i]})), 0)
            .same == 1);
  }
  // Of all, each meets its own.
  others.push_back(p);
  const auto all =
      compare(report::records_of(table_of(others)), through_a_file(table_of(others)), 0);
  CHECK(all.same == others.size());
  CHECK(all.added + all.missing + all.unmeasured == 0);
  for (const char* key :
       {"kernel", "regime", "threads", "replay", "BM", "mask", "layout", "capacity", "page"}) {
    CAPTURE(key);
    ReadRecord now = record("a", 8, 1.0), before = now;
    const auto set = [&](ReadRecord& which, const string& word) {
      std::erase_if(which.cells, [&](const auto& cell) { return cell.first == key; });
      which.cells.emplace_back(key, word);
    };
    set(now, "x");
    CHECK_FALSE(complaint({now}, {before}).empty());
    set(before, "y");
    CHECK_FALSE(complaint({now}, {before}).empty());
    set(before, "x");
    CHECK(verdict(now, before) == "same");
  }
}

TEST_CASE("numbers are equal however JSON spelled them") {
  constexpr std::int64_t kLarge = (std::int64_t{1} << 53) + 1;
  report::Table table;
  append(table, report::Record()
                    .hide("kernel", string("a"))
                    .hide("n_q", kLarge)
                    .hide("scale", 1.0)
                    .hide("softcap", std::numeric_limits<double>::infinity())
                    .hide("lengths_q", report::Numbers{1, 2})
                    .hide("lengths_k", report::Numbers{})
                    .hide("seconds", 1.0));
  CHECK(compare(report::records_of(table), through_a_file(table), 0).same == 1);
}

TEST_CASE("what only one of both has is counted") {
  const auto result = compare(
      {record("a", 8, 1.0), record("a", 16, 1.0), record("b", 8, Value())},
      {record("a", 8, 1.0), record("c", 8, 1.0), record("d", 8, 1.0), record("e", 8, Value())},
      0.05);
  CHECK(result.added == 2);
  CHECK(result.missing == 2);  // what was not timed is not missing
  REQUIRE(result.counts.lines.size() == 1);
  CHECK(result.counts.lines[0] ==
        "against old.json, by more than 5%: 0 slower, 0 faster, 1 the same; 2 new, 2 missing");
  CHECK(text_of(result.table, 0, "problem") == "n_q 8, n_k 8, window none");
}

TEST_CASE("the problem's words are what tells it from the others") {
  const std::vector<ReadRecord> records{
      record("a", 8, 1.0, {{"dtype", string("bf16")}, {"batch", std::int64_t{2}}}),
      record("a", 8, 1.0, {{"dtype", string("fp16")}, {"batch", std::int64_t{2}}})};
  const auto result = compare(records, records, 0.05);
  CHECK(text_of(result.table, 0, "problem") == "n_q 8, n_k 8, window none, dtype bf16");
  CHECK(text_of(result.table, 1, "problem") == "n_q 8, n_k 8, window none, dtype fp16");
}

TEST_CASE("a baseline that cannot judge is refused") {
  CHECK(complaint({record("a", 8, 1.0)}, {record("a", 16, 1.0)}) ==
        "old.json holds none of these problems");
  CHECK(complaint({record("a", 8, 1.0)}, {record("a", 8, Value())}) ==
        "old.json holds none of these problems");
  CHECK(complaint({record("a", 8, 1.0)}, {}) == "the baseline holds none of these problems");
  CHECK(complaint({record("a", 8, 1.0)}, {record("a", 8, Value(), {{"cycles", 7.0}})}) ==
        "old.json has no cycles or seconds to compare with");
  ReadRecord first = record("a", 8, 1.0, {{"seed", std::int64_t{1}}}),
             second = record("a", 8, 2.0, {{"seed", std::int64_t{2}}});
  second.number = 7;
  CHECK(complaint({record("a", 8, 1.0)}, {first, second}) ==
        "old.json, record 7 is of the same kernel and problem as record 1: neither is the "
        "baseline");
  // What was not timed leaves the other one.
  CHECK(complaint({record("a", 8, 1.0)}, {record("a", 8, Value()), first}).empty());
}

TEST_CASE("a percentage is a number from 0 on, with or without its sign") {
  CHECK(parse_percent("-", "5%") == 0.05);
  CHECK(parse_percent("-", "5") == 0.05);
  CHECK(parse_percent("-", "0") == 0);
  CHECK(parse_percent("-", "0.5%") == 0.005);
  CHECK(parse_percent("-", "250%") == 2.5);
  for (const string text : {"-5%", "-1", "nan", "nan%", "inf", "%", "5 %", "5%%", "5e", "five",
                            " 5", "5x", "+5", "0x5", "1e400"}) {
    CAPTURE(text);
    CHECK(percent_complaint(text) ==
          "--max-regression " + text + " is not a percentage from 0% on");
  }
  CHECK(percent_complaint("") == "--max-regression has no value");
}
