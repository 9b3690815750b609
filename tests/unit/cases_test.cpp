#include "problem/cases.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "error.hpp"
#include "problem/stated.hpp"
#include "scratch.hpp"

using namespace swa;
using std::string;
using std::vector;

namespace {

const test::Scratch& scratch() {
  static const test::Scratch kScratch;
  return kScratch;
}

vector<Case> read(const string& text) {
  return read_cases(scratch().write("cases.toml", text));
}

// One case that follows "name = 'a'" and its line.
Problem problem_of(const string& lines) {
  return read("[[case]]\nname = 'a'\n" + lines).front().problem;
}

// The sentence and its remedy; empty where nothing is refused.
string complaint(const string& text, bool with_remedy = false) {
  try {
    read(text);
  } catch (const UsageError& error) {
    const string sentence = scratch().without_folder(error.what());
    return with_remedy ? sentence + " | " + error.remedy() : sentence;
  }
  return "";
}

string complaint_of(const string& lines) {
  return complaint("[[case]]\nname = 'a'\n" + lines);
}

}  // namespace

TEST_CASE("the chapter's suite reads") {
  const vector<Case> cases = read_cases(SWA_SOURCE_DIR "/data/cases/chapter.toml");
  REQUIRE(cases.size() == 10);
  CHECK(options(cases[3].problem) == "--W 128 --nq 96 --nk 600 --heads 2");
  CHECK(cases[2].note == "wider than the sequence: equal to causal attention");
}

TEST_CASE("a case holds every word that states a problem") {
  CHECK(options(problem_of(R"(
n_q = 9
n_k = 33
window = 5
sinks = 2
sink_logits = true
anchor = "top-left"
cache = "ring"
capacity = 33
batch = 3
heads_q = 8
heads_kv = 2
head_dim = 40
head_dim_v = 24
dtype = "bf16"
softcap = 1.5
scale = 2
seed = 7
inputs = "large"
stream = "counter"
)")) == "--W 5 --nq 9 --nk 33 --batch 3 --heads 8 --kv-heads 2 --head-dim 40 --head-dim-v 24 "
        "--sinks 2 --sink-logits --softcap 1.5 --scale 2 --anchor top-left --cache ring --capacity "
        "33 --dtype bf16 --seed 7 --inputs large --stream counter");
  CHECK(options(problem_of("n_q = 4\ncache = 'paged'\npage = 2\n")) ==
        "--nq 4 --cache paged --page 2");
  CHECK(options(problem_of("n_q = 4\ncache = 'contiguous'\n")) == "--nq 4");
  CHECK(options(problem_of("n_q = 4\nwindow = 'none'\n")) == "--nq 4");
  CHECK(options(problem_of("n_k = 4\n")) == "--nq 4");
  CHECK(options(problem_of("n_q = 4\nleft = 3\nright = 'none'\n")) ==
        "--left 3 --right none --nq 4");
  CHECK(options(problem_of("n_q = 4\nleft = 3\n")) == "--W 4 --nq 4");
  CHECK(options(problem_of("n_q = 4\nleft = 3\nright = 0\ncausal = true\n")) == "--W 4 --nq 4");
  CHECK(options(problem_of("n_q = 4\ncausal = false\n")) == "--left none --right none --nq 4");
  CHECK(options(problem_of("n_q = 4\nmask = 'chunked:8'\n")) == "--mask chunked:8 --nq 4");
  CHECK(options(problem_of("n_q = 4\nmask = 'fa:-1,-1'\ncausal = true\n")) == "--nq 4");
  CHECK(options(problem_of("n_q = 4\nn_k = 6\nmask = 'ck:t:3,0'\n")) ==
        "--W 4 --nq 4 --nk 6 --anchor top-left");
  CHECK(options(problem_of("lengths_q = [3, 0]\n")) == "--lengths-q 3,0");
  CHECK(options(problem_of("lengths_q = [3, 0]\nlengths_k = [9, 1]\nbatch = 2\n")) ==
        "--lengths-q 3,0 --lengths-k 9,1");
  CHECK(options(problem_of("n_q = 4\nn_k = 9\nlengths_k = [9, 1]\n")) ==
        "--nq 4 --nk 9 --lengths-k 9,1");
  CHECK(problem_of("n_q = 4\nseed = '18446744073709551615'\n").seed == ~std::uint64_t{0});
}

TEST_CASE("what a case file must not say is refused with its line and key") {
  struct Row {
    string lines, sentence;
  };
  // The lines begin with line 3 of the file.
  const vector<Row> rows{
      {"n_q = 5\nwindo = 3\n", "4: 'windo' is not a key of [[case]]"},
      {"n_q = 5\nBM = 3\n", "4: 'BM' is not a key of [[case]]"},
      {"n_q = 0\n", "3: 'n_q' is not within 1 .. 2^60"},
      {"n_q = 1152921504606846977\n", "3: 'n_q' is not within 1 .. 2^60"},
      {"n_q = -3\n", "3: 'n_q' is not within 1 .. 2^60"},
      {"n_q = 'x'\n", "3: 'n_q' is missing or not a whole number"},
      {"n_q = 2.0\n", "3: 'n_q' is missing or not a whole number"},
      {"n_q = [2]\n", "3: 'n_q' is missing or not a whole number"},
      {"", "2: 'name' in case a: the problem has no size"},
      {"n_q = 4\nn_k = 0\n", "4: 'n_k' is not within 1 .. 2^60"},
      {"n_q = 4\nnote = 3\n", "4: 'note' is missing, empty or not a string"},
      {"n_q = 4\nnote = \"\\u001b[2J\"\n", "4: 'note' has a control character"},
      {"n_q = 4\nwindow = 0\n", "4: 'window' is not within 1 .. 2^60"},
      {"n_q = 4\nwindow = 'all'\n", "4: 'window' is neither a whole number nor \"none\""},
      {"n_q = 4\nwindow = true\n", "4: 'window' is missing or not a whole number"},
      {"n_q = 4\nleft = -1\n", "4: 'left' is not within 0 .. 2^60"},
      {"n_q = 4\nright = 'x'\n", "4: 'right' is neither a whole number nor \"none\""},
      {"n_q = 4\nleft = 2\nwindow = 3\n",
       "5: 'window' in case a: window and left/right are two spellings of the window"},
      {"n_q = 4\nmask = 'hf:3'\nwindow = 3\n",
       "4: 'mask' in case a: mask and window are two spellings of the window"},
      {"n_q = 4\nmask = 'hf:3'\nright = 3\n",
       "4: 'mask' in case a: mask and left/right are two spellings of the window"},
      {"n_q = 4\nwindow = 3\ncausal = false\n",
       "4: 'window' in case a: window is a causal window, so causal = false contradicts it"},
      {"n_q = 4\nright = 3\ncausal = true\n",
       "4: 'right' in case a: right 3 lets queries see later keys, so causal contradicts it"},
      {"n_q = 4\nmask = 'nobody:3'\n", "4: 'mask' in case a: mask nobody:3: no such convention"},
      {"n_q = 4\nmask = 3\n", "4: 'mask' is missing, empty or not a string"},
      {"n_q = 4\nmask = 'hf:3'\ncausal = false\n",
       "4: 'mask' in case a: mask hf:3: hf says itself what is causal, so causal = false has no "
       "say"},
      {"n_q = 4\nmask = 'fa:3,0'\nanchor = 'top-left'\n",
       "5: 'anchor' in case a: anchor top-left contradicts mask fa:3,0, which aligns bottom-right"},
      {"n_q = 4\nanchor = 'top'\n", "4: 'anchor' is none of bottom-right, top-left"},
      {"n_q = 4\ncausal = 1\n", "4: 'causal' is neither true nor false"},
      {"n_q = 4\nsinks = -1\n", "4: 'sinks' is not within 0 .. 2^60"},
      {"n_q = 4\nsinks = 9\n", "4: 'sinks' in case a: sinks 9 is more than the 4 keys there are"},
      {"n_q = 4\ncache = 'full'\n", "4: 'cache' is none of contiguous, ring, paged"},
      {"n_q = 4\ncache = 'paged'\npage = 0\n", "5: 'page' is not within 1 .. 2^60"},
      {"n_q = 4\ncache = 'ring'\ncapacity = -1\n", "5: 'capacity' is not within 1 .. 2^60"},
      {"n_q = 4\npage = 16\n",
       "4: 'page' in case a: page belongs to a paged cache, and cache asks for none"},
      {"n_q = 4\ncache = 'paged'\ncapacity = 9\n",
       "5: 'capacity' in case a: capacity belongs to a ring cache, and cache asks for none"},
      {"n_q = 1\nn_k = 9\nwindow = 4\ncache = 'ring'\ncapacity = 3\n",
       "7: 'capacity' in case a: capacity 3 is less than the 4 keys from the first to the last "
       "that "
       "rows of a sequence see"},
      {"n_q = 4\ncache = 'ring'\n",
       "4: 'cache' in case a: cache ring holds a bounded number of keys, and a row of this mask "
       "may "
       "see any number"},
      {"n_q = 4\nsink_logits = 'yes'\n", "4: 'sink_logits' is neither true nor false"},
      {"n_q = 4\nbatch = 0\n", "4: 'batch' is not within 1 .. 2^60"},
      {"n_q = 4\nheads_q = 4\nheads_kv = 3\n",
       "4: 'heads_q' in case a: heads_q 4 is not a multiple of heads_kv 3"},
      {"n_q = 4\nhead_dim = 65537\n", "4: 'head_dim' is not within 1 .. 65536"},
      {"n_q = 4\nhead_dim_v = 0\n", "4: 'head_dim_v' is not within 1 .. 65536"},
      {"n_q = 4\ndtype = 'fp8_e4m3'\n", "4: 'dtype' is none of fp64, fp32, tf32, bf16, fp16"},
      {"n_q = 4\nsoftcap = 0\n", "4: 'softcap' in case a: softcap 0 is not above 0"},
      {"n_q = 4\nsoftcap = 1e39\n",
       "4: 'softcap' in case a: softcap 1e+39 is more than fp32 holds"},
      {"n_q = 4\nsoftcap = 1e-38\n",
       "4: 'softcap' in case a: softcap 1e-38 is below the normal numbers of fp32"},
      {"n_q = 4\nsoftcap = '30'\n", "4: 'softcap' is missing or not a finite number"},
      {"n_q = 4\nscale = nan\n", "4: 'scale' is missing or not a finite number"},
      {"n_q = 4\nscale = -1e39\n", "4: 'scale' in case a: scale -1e+39 is more than fp32 holds"},
      {"n_q = 4\nseed = -1\n", "4: 'seed' is not within 0 .. 9223372036854775807"},
      {"n_q = 4\nseed = '18446744073709551616'\n",
       "4: 'seed' is not a whole number from 0 to 2^64 - 1"},
      {"n_q = 4\ninputs = 'cauchy'\n", "4: 'inputs' is none of normal, uniform, large"},
      {"n_q = 4\nstream = 'pcg'\n", "4: 'stream' is none of numpy, counter"},
      {"lengths_q = []\n", "3: 'lengths_q' is missing, empty or not an array"},
      {"lengths_q = 3\n", "3: 'lengths_q' is missing, empty or not an array"},
      {"lengths_q = [3, 'x']\n", "3: 'lengths_q' is missing or not a whole number"},
      {"lengths_q = [3, -1]\n", "3: 'lengths_q' is not within 0 .. 2^60"},
      {"lengths_q = [0, 0]\n", "3: 'lengths_q' in case a: lengths_q 0,0 has no query at all"},
      {"lengths_k = [3]\n", "3: 'lengths_k' in case a: lengths_k states no queries"},
      {"lengths_q = [3, 4]\nlengths_k = [5]\n",
       "4: 'lengths_k' in case a: lengths_k gives 1 sequences a length, and there are 2"},
      {"lengths_q = [3, 4]\nbatch = 3\n",
       "4: 'batch' in case a: batch 3 contradicts the lengths of 2 sequences"},
      {"n_q = 3\nlengths_q = [3, 4]\n",
       "4: 'lengths_q' in case a: lengths_q has a sequence of 4 tokens, more than n_q 3"},
      {"lengths_q = [1152921504606846976, 1]\n",
       "3: 'lengths_q' in case a: lengths_q adds up to more than 2^60 tokens"},
      {"n_q = 4\n[[case]]\nname = 'a'\nn_q = 5\n", "5: 'name' = a is the name of an earlier case"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.lines);
    CHECK(complaint_of(row.lines) == "cases.toml:" + row.sentence);
  }
  CHECK(complaint("[[case]]\nn_q = 4\n") ==
        "cases.toml:1: 'name' is missing, empty or not a string");
  CHECK(complaint("[[case]]\nname = ''\nn_q = 4\n") ==
        "cases.toml:2: 'name' is missing, empty or not a string");
  CHECK(complaint("x = 1\n") == "cases.toml has no [[case]]");
  CHECK(complaint("") == "cases.toml has no [[case]]");
  CHECK(complaint("case = [3]\n") == "cases.toml: 'case' is not a table");
  CHECK(complaint("[[case]\n").starts_with("cases.toml:1: "));
  CHECK(complaint("[[case]]\nname = 'a'\nn_q = 4\nn_k = 4\nlengths_k = [9]\n", true) ==
        "cases.toml:5: 'lengths_k' in case a: lengths_k has a sequence of 9 tokens, more than n_k "
        "4 | give a larger n_k, or leave it out");
}

TEST_CASE("a file that is none and one that is too large or too deep is refused") {
  const string folder = scratch().folder();
  CHECK_THROWS_WITH_AS(read_cases("/nonexistent.toml"), "/nonexistent.toml cannot be found",
                       UsageError);
  CHECK_THROWS_AS(read_cases(""), UsageError);
  CHECK_THROWS_WITH_AS(read_cases(folder), (folder + " is not a regular file").c_str(), UsageError);
  CHECK_THROWS_WITH_AS(read_cases("/dev/zero"), "/dev/zero is not a regular file", UsageError);
  const string pipe = folder + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(read_cases(pipe), (pipe + " is not a regular file").c_str(), UsageError);

  const string start = "[[case]]\nname = 'a'\nn_q = 4\n";
  const std::size_t most = std::size_t{16} << 20;
  CHECK(complaint(start + string(most - start.size(), '\n')) == "");
  CHECK(complaint(start + string(most - start.size() + 1, '\n')) ==
        "cases.toml has more than 16 MiB");
  CHECK(complaint(string("\0\xff\xfe[[case", 9)).starts_with("cases.toml:1: "));
  CHECK(complaint("[[case]]\nname = '\xc3'\nn_q = 4\n").starts_with("cases.toml:2: "));

  CHECK(complaint("[\nname = 'a'\n").starts_with("cases.toml:1: "));

  const auto repeated = [](const string& part, std::size_t times) {
    string all;
    for (std::size_t i = 0; i < times; ++i) all += part;
    return all;
  };
  CHECK(complaint(start + "note = " + string(1'000'000, '[')).starts_with("cases.toml:4: "));
  CHECK(complaint(start + "note = " + repeated("{a=", 1'000'000)).starts_with("cases.toml:4: "));
  CHECK(complaint(repeated("a.", 5'000'000) + "a = 1\n") ==
        "cases.toml:1: the line has more than 200 dots");
  CHECK(complaint(start + "[" + repeated("a.", 201) + "a]\n") ==
        "cases.toml:4: the line has more than 200 dots");
  // The deepest that passes those limits is refused for its key, once the tables are gone again.
  const string deep = repeated("a.", 200);
  CHECK(complaint(repeated(deep + "a=[\n{", 7) + deep + "a=1" + repeated("}]", 7) + "\n")
            .starts_with("cases.toml"));
}

TEST_CASE("characters beyond ASCII belong into strings and comments") {
  const string e = "\xc3\xa9";
  const auto note_of = [](const string& note) {
    return read("[[case]]\nname = 'a'\nn_q = 4\nnote = " + note + "\n").front().note;
  };
  CHECK(note_of("'" + e + "'") == e);
  CHECK(note_of("\"\"\"" + e + "\\\n  " + e + "\"\"\" # " + e) == e + e);
  CHECK(read("\xef\xbb\xbf[[case]]\nname = '" + e + "'\nn_q = 4\n").front().name == e);

  const string blank = "\xe2\x80\x8b", quote = "\xe2\x80\x9c", mark = "\xef\xbb\xbf";
  for (const string& line :
       vector<string>{e + " = 4", "n_q = 4" + e, "n_q = " + blank + "4",
                      "note = " + quote + "x" + quote, "[" + e + "]", mark + "n_q = 4",
                      "note = '' " + e, "note = 1979-05-27'" + e, "note = \"\\" + e + "\""}) {
    CAPTURE(line);
    CHECK(complaint_of(line + "\n").starts_with("cases.toml:3: Error"));
  }
}

TEST_CASE("a case file may lie in memory") {
  const int file = memfd_create("cases", 0);
  REQUIRE(file >= 0);
  const string text = "[[case]]\nname = 'a'\nn_q = 4\n";
  REQUIRE(write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  CHECK(read_cases("/proc/self/fd/" + std::to_string(file)).front().name == "a");
  close(file);
}

namespace {

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  Index count(Index least, Index most) {
    return std::uniform_int_distribution<Index>(least, most)(engine_);
  }
  bool coin() { return count(0, 1) == 1; }

 private:
  std::mt19937 engine_;
};

vector<Index> random_lengths(Random& random, Index sequences, Index most) {
  vector<Index> lengths;
  for (Index i = 0; i < sequences; ++i) lengths.push_back(random.count(0, most));
  lengths[static_cast<std::size_t>(random.count(0, sequences - 1))] = random.count(1, most);
  return lengths;
}

Window random_window(Random& random) {
  const auto side = [&] {
    return random.coin() ? Side::of(random.count(1, 40)) : Side::unbounded();
  };
  switch (random.count(0, 3)) {
    case 0:
      return Window::global();
    case 1:
      return Window::causal(random.coin() ? random.count(1, 50) : kMaxIndex);
    case 2:
      return Window::band(side(), side());
    default:
      return Window::chunked(random.count(1, 50));
  }
}

// A ring where the mask allows it, and large enough for sink tokens.
CacheLayout random_cache(Random& random, const Problem& p) {
  const bool bounded = p.window.kind == Window::Kind::chunked ||
                       (p.window.reach_left().bounded && p.window.reach_right().bounded);
  switch (random.count(bounded ? 0 : 1, 2)) {
    case 0:
      if (p.sinks == 0 && random.coin()) return {CacheKind::ring};
      return {CacheKind::ring, p.n_k + random.count(0, 9)};
    case 1:
      return {CacheKind::paged, {}, random.count(1, 40)};
    default:
      return {};
  }
}

Problem random_problem(Random& random) {
  Problem p;
  p.batch = random.count(1, 4);
  p.n_q = random.count(1, 300);
  p.n_k = random.coin() ? p.n_q : random.count(1, 300);
  const bool lengths_q = random.count(0, 2) == 0, lengths_k = random.count(0, 2) == 0;
  if (lengths_q) p.lengths_q = random_lengths(random, p.batch, p.n_q);
  if (lengths_k) p.lengths_k = random_lengths(random, p.batch, p.n_k);
  if (lengths_q && lengths_k && random.coin()) {
    p.layout = Layout::packed;
    p.n_q = *std::max_element(p.lengths_q.begin(), p.lengths_q.end());
    p.n_k = *std::max_element(p.lengths_k.begin(), p.lengths_k.end());
  }
  p.window = random_window(random);
  p.sinks = random.coin() ? 0 : random.count(0, p.n_k);
  p.heads_kv = random.count(1, 3);
  p.heads_q = p.heads_kv * random.count(1, 4);
  p.head_dim = random.count(1, 128);
  if (random.coin()) p.head_dim_v = random.count(1, 128);
  p.sink_logits = random.coin();
  if (random.coin()) p.softcap = static_cast<double>(random.count(1, 1000)) / 7;
  if (random.coin()) p.scale = static_cast<double>(random.count(-1000, 1000)) * 1e-9 / 3;
  p.anchor = random.coin() ? Anchor::top_left : Anchor::bottom_right;
  p.cache = random_cache(random, p);
  p.dtype = *parse_dtype(element_words()[static_cast<std::size_t>(random.count(0, 4))]);
  p.seed = random.coin() ? static_cast<std::uint64_t>(random.count(0, 9))
                         : ~static_cast<std::uint64_t>(random.count(0, kMaxIndex));
  p.inputs = *parse_recipe(recipe_words()[static_cast<std::size_t>(random.count(0, 2))]);
  if (random.coin()) p.stream = Stream::counter;
  return p;
}

}  // namespace

TEST_CASE("a case that is written reads back equal") {
  Random random(1);
  string text;
  vector<Case> written;
  for (int i = 0; i < 3000; ++i) {
    written.push_back({"case-" + std::to_string(i), random_problem(random),
                       random.coin() ? "" : "says \"why\" \\ in Zürich"});
    validate(written.back().problem);
    text += to_toml(written.back()) + "\n";
  }
  const vector<Case> cases = read(text);
  REQUIRE(cases.size() == written.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(to_toml(written[i]));
    CHECK(cases[i].name == written[i].name);
    CHECK(cases[i].note == written[i].note);
    REQUIRE(cases[i].problem == written[i].problem);
  }
}

TEST_CASE("a case is written in the words of the file defaults left out") {
  Case one{"small", {}, "two heads"};
  one.problem.n_q = one.problem.n_k = 70;
  one.problem.window = Window::causal(33);
  one.problem.heads_q = one.problem.heads_kv = 2;
  CHECK(to_toml(one) ==
        "[[case]]\nname = \"small\"\nnote = \"two heads\"\nn_q = 70\nwindow = 33\nheads_q = 2\n");
}

TEST_CASE("the page on case files has every key and its example reads as it says") {
  std::ifstream file(SWA_SOURCE_DIR "/docs/cases.md");
  string page((std::istreambuf_iterator<char>(file)), {});
  for (const string key :
       {"name",  "note",    "n_q",      "n_k",      "lengths_q",  "lengths_k",   "window",
        "left",  "right",   "causal",   "mask",     "sinks",      "sink_logits", "anchor",
        "batch", "heads_q", "heads_kv", "head_dim", "head_dim_v", "dtype",       "softcap",
        "scale", "seed",    "inputs",   "stream",   "cache",      "capacity",    "page"}) {
    CAPTURE(key);
    CHECK(page.find("`" + key + "`") != string::npos);
  }
  const string start = "```toml\n";
  REQUIRE(page.find(start) != string::npos);
  const std::size_t begin = page.find(start) + start.size();
  const vector<Case> cases = read(page.substr(begin, page.find("```", begin) - begin));
  CHECK(cases.size() == 3);
  for (const Case& one : cases) {
    CAPTURE(one.name);
    CHECK(page.find("`swa verify " + options(one.problem) + "`") != string::npos);
  }
}
