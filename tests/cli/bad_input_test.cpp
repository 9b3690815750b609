// What is asked wrongly gets a sentence, a remedy and status 2, at once and without memory; what is
// asked rightly with huge numbers is right or refused.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "process.hpp"

using namespace swa::test;
using std::string;
using std::vector;

namespace {

const string kHuge = "1" + string(30, '0');  // 10^30

const string kThisFile = SWA_SOURCE_DIR "/tests/cli/bad_input_test.cpp";

string who(const Words& arguments) {
  return "swa " + arguments.at(0);
}

// At once, small, and ended by itself.
void check_modest(const Finished& run) {
  CHECK_FALSE(run.timed_out);
  CHECK(run.signal == 0);
  CHECK(run.seconds < kSecond);
  if (!kSanitized) CHECK(run.peak_mib < 100);
}

// "swa COMMAND: sentence" and an indented remedy, with each of the parts somewhere in the sentence.
void check_complaint(const Finished& run, const string& speaker, const vector<string>& parts) {
  CHECK(run.out.empty());
  const vector<string> said = lines(run.err);
  CHECK(said.size() == 2);
  if (said.size() < 2) return;
  CHECK(said[0].starts_with(speaker + ": "));
  for (const string& part : parts) CHECK_MESSAGE(contains(said[0], part), "should say ", part);
  CHECK(said[1].starts_with("  "));
  CHECK(said[1].find_first_not_of(' ') == 2);
  CHECK_FALSE(contains(run.err, "required"));  // CLI11's own wording
}

void check_remedy(const Finished& run, const string& part) {
  const vector<string> said = lines(run.err);
  CHECK_MESSAGE((!said.empty() && contains(said.back(), part)), "should advise ", part);
}

void check_refused(const Words& arguments, const vector<string>& parts) {
  string line;
  for (const string& word : arguments) line += " " + (word.empty() ? "''" : word);
  INFO("swa", line);
  const Finished run = run_swa(arguments, {.timeout = 5});
  INFO("stderr: ", run.err);
  CHECK(run.status == 2);
  check_modest(run);
  check_complaint(run, who(arguments), parts);
}
void check_refused(const string& line, const vector<string>& parts) {
  check_refused(words(line), parts);
}

enum class Kind { count, count_or_zero, list, list_or_zero, real, positive, seed, word, flag };

// Values that no option of a kind takes. Blanks cannot stand in a table line, so these are lists.
vector<string> wrong_values(Kind kind) {
  const vector<string> no_count{"-1",  kHuge,  "-" + kHuge, "x",  "",   "1.5", "1e3",
                                "nan", "0x10", "+4",        " 4", "4Q", "Ki",  "4ki"};
  vector<string> values;
  switch (kind) {
    case Kind::count:
    case Kind::list:
      values = no_count;
      values.push_back("0");
      break;
    case Kind::count_or_zero:
    case Kind::list_or_zero:
      values = no_count;
      break;
    case Kind::real:
      return {"x", "", "nan", "inf", "1e400", "1.5x", "1,2", "0x1p3", " 1"};
    case Kind::positive:
      return {"0", "-1", "-" + kHuge, "x", "", "nan", "-inf", "inf", "1e400", "1,2"};
    case Kind::seed:
      return {"-1", kHuge, "x", "", "1.5", "18446744073709551616", "1,2", " 1"};
    case Kind::word:
      return {"", "0", "-1", kHuge, "surely-not"};
    case Kind::flag:
      return {};
  }
  if (kind == Kind::count || kind == Kind::count_or_zero) {
    values.insert(values.end(), {"4,8", "4:8:2"});
  } else {
    values.insert(values.end(), {",", "4,", ",4", "4,,8", "4,x", "1:2", "1:2:", "1::2", ":2:1",
                                 "1:2:0", "1:2:-1", "5:1:1", "1:2:3:4", "1:8:*1", "1:8:*0", "1:8:*",
                                 "1:1000000:1", "-1:4:1", "1:" + kHuge + ":1"});
  }
  return values;
}

struct Spec {
  string option;
  Kind kind;
  string rest = {};    // what makes the command complete besides the option
  string valid = "4";  // a value that it takes
};

// Every way in which one option can be given wrongly.
void check_option(const string& command, const Spec& spec) {
  const Words rest = words(command + " " + spec.rest);
  const auto with = [&](const Words& more) {
    Words all = rest;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  if (spec.kind == Kind::flag) {
    check_refused(with({spec.option, spec.option}), {spec.option});
    for (const string value : {"true", "false", "3", "x"}) {
      check_refused(with({spec.option + "=" + value}), {spec.option});
    }
    return;
  }
  const string name = spec.option == "--model" ? "model" : spec.option;
  for (const string& value : wrong_values(spec.kind)) {
    // Of a list it is enough to name the wrong item.
    const bool is_list = contains(value, ",");
    check_refused(with({spec.option, value}), {name, is_list ? "" : value});
  }
  check_refused(with({spec.option}), {spec.option});
  check_refused(with({spec.option + "="}), {spec.option});
  check_refused(with({spec.option, "--format", "json"}), {spec.option});
  check_refused(with({spec.option, spec.valid, spec.option, spec.valid}), {spec.option});
}

void check_options(const string& command, const vector<Spec>& specs) {
  for (const Spec& spec : specs) check_option(command, spec);
}

// The mask's options mean the same in each command that has them.
vector<Spec> mask_options() {
  return {{"--W", Kind::list, "--nq 8"},
          {"--left", Kind::count_or_zero, "--nq 8"},
          {"--right", Kind::count_or_zero, "--nq 8"},
          {"--sinks", Kind::list_or_zero, "--nq 8"},
          {"--anchor", Kind::word, "--nq 8", "top-left"},
          {"--mask", Kind::word, "--nq 8", "hf:4"},
          {"--lengths-q", Kind::list_or_zero},
          {"--lengths-k", Kind::list_or_zero, "--nq 8"},
          {"--head-dim-v", Kind::count, "--nq 8"},
          {"--causal", Kind::flag, "--nq 8"},
          {"--no-causal", Kind::flag, "--nq 8"}};
}

}  // namespace

TEST_CASE("every option of kv-budget refuses what it cannot take") {
  check_options("kv-budget", {{"--model", Kind::word, "", "gemma2-27b"},
                              {"--ctx", Kind::list},
                              {"--dtype", Kind::word, "", "fp16"},
                              {"--batch", Kind::count},
                              {"--dtype-k", Kind::word, "", "fp16"},
                              {"--dtype-v", Kind::word, "", "fp16"},
                              {"--tp", Kind::count},
                              {"--pp", Kind::count},
                              {"--list", Kind::flag},
                              {"--layouts", Kind::flag},
                              {"--explain", Kind::flag},
                              {"--breakdown", Kind::flag},
                              {"--plot", Kind::flag},
                              {"--format", Kind::word, "", "json"},
                              {"--export", Kind::word, "", "x.json"}});
  const vector<string> no_bytes{"",    "x",  "80Q", "80gib", "GiB", "1e9",     "0",
                                "-1B", "0B", "nan", "inf",   "1 B", "2048PiB", kHuge};
  for (const string& value : no_bytes) {
    check_refused({"kv-budget", "--memory", value}, {"--memory", value});
    check_refused({"kv-budget", "--memory", "80GiB", "--weights", value}, {"--weights", value});
    check_refused({"kv-budget", "--bandwidth", value + "/s"}, {"--bandwidth"});
    check_refused({"kv-budget", "--bandwidth", value}, {"--bandwidth", value});
    check_refused({"kv-budget", "--solve", "context", "--under", value}, {"--under", value});
  }
  for (const string value : {"", "x", "10", "-1%", "100%", "1e1%", "%", "nan%", "10 %"}) {
    check_refused({"kv-budget", "--memory", "80GiB", "--reserve", value}, {"--reserve", value});
  }
  for (const string value : {"", "surely-not", "0", "logical,"}) {
    check_refused({"kv-budget", "--layout", value}, {"layout"});
  }
}

TEST_CASE("layouts of kv-budget refuse what they do not have") {
  struct Row {
    string layout, sentence, remedy;
  };
  for (const Row& row :
       vector<Row>{{"vlm", "'vlm'", "'vllm'"},
                   {"llama.cpp:block-size=16", "layout llama.cpp has no setting 'block-size'",
                    "ubatch-size"},
                   {"vllm:blok-size=16", "no setting 'blok-size'", "'block-size'"},
                   {"logical:chunk=1", "layout logical has no setting 'chunk'", "none"},
                   {"vllm:block-size", "--layout vllm:block-size has no value", ""},
                   {"vllm:block-size=", "--layout vllm:block-size has no value", ""},
                   {"vllm:block-size=0", "--layout vllm:block-size 0 is less than 1", ""},
                   {"vllm:block-size=x", "--layout vllm:block-size x is not a whole number", ""},
                   {"vllm:block-size=16:block-size=32", "vllm:block-size stands twice", ""},
                   {"vllm:disable-hybrid-kv-cache-manager=1", "takes no value", ""},
                   {"vllm:", "no setting ''", ""},
                   {"sglang:swa-full-tokens-ratio=0", "is not above 0 and at most 1", ""},
                   {"sglang:swa-full-tokens-ratio=1.5", "is not above 0 and at most 1", ""},
                   {"sglang:swa-full-tokens-ratio=nan", "is not a finite number", ""},
                   {"trtllm:shares=fair", "--layout trtllm:shares fair is not known", "equal"},
                   {"trtllm:tokens-per-block=1152921504606846977", "is too large", ""}}) {
    CAPTURE(row.layout);
    check_refused({"kv-budget", "--layout", row.layout}, {row.sentence});
    check_remedy(run_swa({"kv-budget", "--layout", row.layout}), row.remedy);
  }
}

TEST_CASE("questions of kv-budget that have no answer are refused") {
  struct Row {
    string line;
    vector<string> parts;
  };
  for (const Row& row : vector<Row>{
           {"--weights 4GiB", {"--weights without --memory"}},
           {"--reserve 10%", {"--reserve without --memory"}},
           {"--memory 4GiB --weights 4GiB", {"--memory 4GiB leaves no room"}},
           {"--solve context", {"--solve needs --under"}},
           {"--under 4GiB", {"--under needs --solve"}},
           {"--solve what --under 4GiB", {"--solve what"}},
           {"--solve context --under 4GiB --ctx 8Ki", {"--ctx"}},
           {"--solve batch --under 4GiB --batch 2", {"--batch"}},
           {"--solve window --under 4GiB --memory 4GiB", {"--memory has no say"}},
           {"--solve window --under 4GiB --plot", {"--plot has no say"}},
           {"--solve window --under 4GiB --model qwen3-8b", {"no sliding layers"}},
           {"--solve ratio --under 4GiB --model gemma-3n-e2b", {"no ratio"}},
           {"--list --ctx 8Ki", {"--list", "--ctx has no say"}},
           {"--layouts --plot", {"--layouts", "--plot has no say"}},
           {"--model k-exaone-236b", {"layers, head_dim, pattern of k-exaone-236b"}},
           {"--model gemma-3n-e2b --layout sglang", {"SGLang", "gemma-3n-e2b"}},
           {"--model modernbert-base --layout vllm", {"modernbert-base is an encoder"}},
           {"--model unsloth/gemma-2-27b", {"unsloth/gemma-2-27b"}},
           {"--dtype q4_0 --layout vllm", {"layout vllm has no cache of type q4_0"}},
           {"--dtype-k fp8 --layout vllm", {"layout vllm has one type for K and V"}},
           {"--batch 3 --layout llama.cpp:parallel=2", {"fewer slots than there are sequences"}},
           {"--solve ratio --under 4GiB --pp 2", {"--pp has no say"}},
           {"--ctx 1:60000:1 --model all", {"more than 100000 records"}},
           {"--dtype fp8 --layout llama.cpp", {"llama.cpp has no cache of type fp8"}},
           {"--tp 3", {"8 KV heads cannot be split evenly over 3 ranks"}},
           {"--pp 1000", {"too few for 1000 pipeline stages"}},
           {"--model gemma-3n-e2b --pp 2", {"another layer's cache"}},
           {"--layout all --export x.svg", {"10 layouts", "at most 4 and 5"}}}) {
    CAPTURE(row.line);
    check_refused("kv-budget " + row.line, row.parts);
  }
}

TEST_CASE("every option of tile-map refuses what it cannot take") {
  check_options("tile-map", mask_options());
  check_options("tile-map", {{"--nq", Kind::list},
                             {"--nk", Kind::list},
                             {"--BM", Kind::list, "--nq 8"},
                             {"--BN", Kind::list, "--nq 8"},
                             {"--head-dim", Kind::count, "--nq 8"},
                             {"--dtype", Kind::word, "--nq 8", "fp16"},
                             {"--show", Kind::flag, "--nq 8"},
                             {"--show-mask", Kind::flag, "--nq 8"},
                             {"--reach", Kind::word, "--nq 8 --W 4", "LLLG"},
                             {"--layers", Kind::word, "--nq 8 --W 4", "LLLG"},
                             {"--rule", Kind::word, "--nq 8", "fa3"},
                             {"--kernel", Kind::word, "--nq 8", "cpu-tiled"},
                             {"--heads", Kind::list, "--nq 8 --kernel cpu-tiled"},
                             {"--kv-heads", Kind::list, "--nq 8 --heads 8 --kernel cpu-tiled"},
                             {"--conventions", Kind::flag, "--nq 8"},
                             {"--format", Kind::word, "--nq 8", "json"},
                             {"--export", Kind::word, "--nq 8", "x.json"}});
}

TEST_CASE("every option of verify refuses what it cannot take") {
  check_options("verify", mask_options());
  check_options("verify", {{"--nq", Kind::list},
                           {"--nk", Kind::list},
                           {"--batch", Kind::list, "--nq 8"},
                           {"--heads", Kind::list, "--nq 8"},
                           {"--kv-heads", Kind::list, "--nq 8 --heads 4"},
                           {"--head-dim", Kind::list, "--nq 8"},
                           {"--cache", Kind::word, "--nq 8 --W 4", "ring"},
                           {"--capacity", Kind::list, "--nq 8 --W 1 --cache ring", "8"},
                           {"--page", Kind::list, "--nq 8 --cache paged"},
                           {"--dtype", Kind::word, "--nq 8", "fp16"},
                           {"--softcap", Kind::positive, "--nq 8"},
                           {"--scale", Kind::real, "--nq 8"},
                           {"--sink-logits", Kind::flag, "--nq 8"},
                           {"--seed", Kind::seed, "--nq 8"},
                           {"--inputs", Kind::word, "--nq 8", "large"},
                           {"--stream", Kind::word, "--nq 8", "counter"},
                           {"--suite", Kind::word, "", "chapter"},
                           {"--cases", Kind::word, "", SWA_SOURCE_DIR "/data/cases/full.toml"},
                           {"--match", Kind::word, "--suite full", "square"},
                           {"--list", Kind::flag, "--nq 8"},
                           {"--fail-fast", Kind::flag, "--nq 8"},
                           {"--kernel", Kind::word, "--nq 8", "cpu-tiled"},
                           {"--BM", Kind::count, "--nq 8"},
                           {"--BN", Kind::count, "--nq 8"},
                           {"--timeout", Kind::positive, "--nq 8"},
                           {"--format", Kind::word, "--nq 8", "json"},
                           {"--export", Kind::word, "--nq 8", "x.json"}});
  // Their values are names of files and folders: files_options_test.cpp says what those refuse.
  for (const string option : {"--out", "--output", "--lse", "--q", "--k", "--v", "--dump"}) {
    check_refused(words("verify --nq 8 " + option), {option});
    check_refused(words("verify --nq 8 " + option + "="), {option});
    check_refused(words("verify --nq 8 " + option + " a " + option + " a"), {option});
  }
}

TEST_CASE("every option of trap-demo refuses what it cannot take") {
  check_options("trap-demo nan", {{"--n", Kind::count},
                                  {"--head-dim", Kind::count},
                                  {"--W", Kind::list},
                                  {"--mask", Kind::word, "", "hf:4"},
                                  {"--chunk", Kind::count},
                                  {"--seed", Kind::seed},
                                  {"--order", Kind::word, "", "reverse"},
                                  {"--BM", Kind::count},
                                  {"--BN", Kind::count},
                                  {"--guard", Kind::word, "", "on"},
                                  {"--format", Kind::word, "", "json"},
                                  {"--export", Kind::word, "", "x.json"}});
}

TEST_CASE("every option of ring-sim refuses what it cannot take") {
  check_options("ring-sim", {{"--W", Kind::count},
                             {"--mask", Kind::word, "", "hf:4"},
                             {"--steps", Kind::count},
                             {"--prefill", Kind::count_or_zero},
                             {"--chunk", Kind::count, "--prefill 20"},
                             {"--page", Kind::count},
                             {"--head-dim", Kind::count},
                             {"--seed", Kind::seed},
                             {"--format", Kind::word, "", "json"},
                             {"--export", Kind::word, "", "x.json"}});
}

TEST_CASE("every option of bench refuses what it cannot take") {
  check_options("bench", {{"--nq", Kind::list},
                          {"--dtype", Kind::word, "--nq 8", "fp16"},
                          {"--kernel", Kind::word, "--nq 8", "cpu-tiled"},
                          {"--BM", Kind::count, "--nq 8"},
                          {"--BN", Kind::count, "--nq 8"},
                          {"--rounds", Kind::count, "--nq 8"},
                          {"--threads", Kind::list, "--nq 8"},
                          {"--max-seconds", Kind::positive, "--nq 8"}});
}

TEST_CASE("every option of kernels refuses what it cannot take") {
  check_options("kernels", {{"--check", Kind::flag},
                            {"--format", Kind::word, "", "json"},
                            {"--export", Kind::word, "", "x.json"}});
}

TEST_CASE("every option of reproduce refuses what it cannot take") {
  check_options("reproduce", {{"--check", Kind::flag},
                              {"--format", Kind::word, "", "json"},
                              {"--export", Kind::word, "", "x.json"}});
}

TEST_CASE("an option that takes one number does not recommend a list") {
  for (const string line :
       {"kv-budget --batch 1,2", "tile-map --nq 8 --left 1,2", "tile-map --nq 8 --head-dim x",
        "verify --nq 8 --BM x", "trap-demo nan --n 100,200", "ring-sim --W 4,8",
        "ring-sim --steps x"}) {
    CAPTURE(line);
    const Finished run = run_swa(line);
    CHECK(run.status == 2);
    CHECK_FALSE(contains(run.err, "list"));
    CHECK_FALSE(contains(run.err, "range"));
  }
}

TEST_CASE("problems that have no meaning are refused") {
  struct Row {
    string line;
    vector<string> parts;
  };
  const vector<Row> rows{
      {"tile-map", {"size"}},
      {"tile-map --W 4", {"size"}},
      {"verify --W 4", {"size"}},
      {"verify --seed 3", {"size"}},
      {"tile-map --nq 8 --W 0", {"--W 0", "own key"}},
      {"tile-map --nq 8 --W 0,4", {"--W 0"}},
      {"verify --nq 8 --W 0", {"--W 0", "own key"}},
      {"trap-demo nan --W 0", {"--W 0", "own key"}},
      {"tile-map --nq 8 --sinks 9", {"--sinks 9", "8 keys"}},
      {"tile-map --nq 8 --sinks 0,9", {"--sinks 9", "8 keys"}},
      {"tile-map --nq 8 --nk 4 --sinks 5", {"--sinks 5", "4 keys"}},
      {"verify --nq 8 --sinks 9", {"--sinks 9", "8 keys"}},
      {"verify --nq 8 --heads 4 --kv-heads 3", {"--heads 4", "--kv-heads 3"}},
      {"verify --nq 8 --kv-heads 2", {"--heads 1", "--kv-heads 2"}},
      {"verify --nq 8 --heads 4 --kv-heads 8", {"--heads 4", "--kv-heads 8"}},
      {"verify --nq 8 --heads 4 --kv-heads 2,3", {"--kv-heads 3"}},
      {"verify --nq 8 --head-dim 65537", {"--head-dim 65537"}},
      {"tile-map --nq 8 --head-dim 1048577", {"--head-dim 1048577"}},
      {"verify --nq 8 --dtype fp8_e4m3", {"--dtype fp8_e4m3"}},
      {"verify --nq 8 --cache ring", {"--cache ring", "any number"}},
      {"verify --nq 8 --left 3 --right none --cache paged,ring", {"--cache ring", "any number"}},
      {"verify --nq 1 --nk 90 --W 9 --cache ring --capacity 8,9", {"--capacity 8", "9 keys"}},
      {"verify --nq 1 --nk 90 --W 9 --sinks 4 --cache ring", {"--sinks 4", "9 slots"}},
      {"verify --nq 1 --nk 4Gi --W none --cache paged --page 1", {"--page 1", "32 bits"}},
      // fp32 holds neither, so no kernel could be right; a comparison would blame the kernel.
      {"verify --nq 8 --softcap 1e308", {"--softcap 1e308"}},
      {"verify --nq 8 --scale 1e300", {"--scale 1e300"}},
      {"trap-demo rope-slot --head-dim 15", {"--head-dim 15", "odd"}},
      {"ring-sim --head-dim 3", {"--head-dim 3", "odd"}},
      {"ring-sim --prefill 41", {"41", "40 tokens"}},
      {"ring-sim --chunk 4", {"--chunk", "prefill"}},
      {"trap-demo alignment --chunk 2000", {"--chunk 2000", "1024"}},
      {"trap-demo nan --chunk 2000", {"--chunk 2000", "1000"}},
      {"trap-demo off-by-one --W none", {"off-by-one", "--W none"}},
      {"trap-demo alignment --W none", {"alignment", "--W none"}},
      {"trap-demo rope-slot --W none", {"rope-slot", "--W none"}},
      {"verify --nq 1:400:1 --nk 1:400:1", {"100000"}},
      {"tile-map --nq 100 --W 1:100:1 --BM 1:100:1 --BN 1:100:1", {"100000"}},
      {"tile-map --nq 300 --BM 1 --show", {"--show", "300"}},
      {"tile-map --lengths-q 3,4 --show", {"--show", "several"}},
      {"verify --lengths-q 3,4 --lengths-k 5", {"--lengths-k", "1", "2"}},
      {"verify --lengths-k 3,4", {"--lengths-k", "queries"}},
      {"verify --lengths-q 0,0", {"--lengths-q 0,0", "no query"}},
      {"verify --nq 3 --lengths-q 3,4", {"--lengths-q", "4 tokens", "--nq 3"}},
      {"verify --nq 9 --nk 3 --lengths-k 4,1", {"--lengths-k", "4 tokens", "--nk 3"}},
      {"verify --nq 3,4 --lengths-q 3,4", {"--nq 3,4"}},
      {"verify --lengths-q 1152921504606846976,1", {"--lengths-q", "2^60"}},
      {"verify --lengths-q 3,4 --batch 3", {"--batch 3", "2 sequences"}},
      {"verify --lengths-q 3,4 --sinks 5", {"--sinks 5", "4 keys"}},
      {"tile-map --nq 8 --layers LLG", {"--layers LLG", "no window"}},
      {"tile-map --nq 8 --W 2 --layers 4,none", {"--layers", "windows itself"}},
      {"tile-map --nq 8 --layers 4,", {"--layers 4,", "empty item"}},
      {"tile-map --nq 8 --layers LXG", {"--layers LXG"}},
      {"tile-map --nq 8 --W 2,3 --layers LLG", {"--layers", "lists"}},
      {"tile-map --nq 8 --W 4 --rule fa9", {"--rule fa9"}},
      {"tile-map --nq 8 --kernel portable-prefill --BM 64", {"--kernel portable-prefill", "--BM"}},
      {"tile-map --nq 8 --kernel portable-prefill --BN 64", {"--kernel portable-prefill", "--BN"}},
      {"tile-map --nq 8 --kernel cpu-tiled --rule exact", {"--kernel cpu-tiled", "--rule"}},
      {"tile-map --nq 8 --kernel cpu-tiled --show", {"--show", "--kernel"}},
      {"tile-map --nq 8 --kernel cpu-tiled --export x.svg", {"--kernel", "figure"}},
      {"tile-map --nq 8 --kernel cpu-tiled --W 4 --layers LG", {"--layers", "--kernel"}},
      {"tile-map --nq 8 --kernel cpu-tiled --W 4 --reach LG", {"--kernel", "--reach"}},
      {"tile-map --W 4 --kernel cpu-tiled --conventions", {"--kernel", "--conventions"}},
      {"tile-map --nq 8 --heads 8", {"--heads", "one head"}},
      {"tile-map --nq 8 --kv-heads 1", {"--kv-heads", "one head"}},
      {"tile-map --nq 8 --heads 3 --kv-heads 2 --kernel cpu-tiled", {"--heads 3", "--kv-heads 2"}},
      {"tile-map --nq 80 --kernel portable-decode", {"portable-decode", "at most 16 queries"}},
      {"tile-map --nq 8 --kernel portable-* --dtype fp64", {"portable-prefill", "not fp64"}},
      {"tile-map --nq 8 --kernel oracle-band", {"--kernel 'oracle-band'", "names no kernel"}},
      {"tile-map --nq 1:60000:1 --kernel portable-decode,cpu-tiled", {"100000"}},
      {"tile-map --nq 8 --W 4 --rule fa3 --head-dim 512", {"--rule fa3", "head_dim 512"}},
      {"tile-map --nq 8 --W 4 --rule fa2 --sinks 2", {"--rule fa2", "sink tokens"}},
      {"tile-map --nq 8 --mask chunked:4 --rule flashinfer", {"--rule flashinfer", "chunks"}},
      {"tile-map --nq 4 --nk 8 --W 4 --anchor top-left --rule fa3", {"--rule fa3", "bottom-right"}},
      {"tile-map --nq 8 --left 4 --right 2 --rule flashinfer", {"flashinfer", "to the right"}},
      {"tile-map --nq 90 --nk 8 --left 4 --right none --rule fa2", {"--rule fa2", "another mask"}},
      {"tile-map --nq 1Ti --mask chunked:1073741827", {"repeat only after", "2^26"}},
      {"tile-map --nq 1152921504606846976 --BM 1 --BN 1 --layers " + string(256, 'G'), {"2^127"}},
      {"tile-map --lengths-q 1:20000:1 --W 1:3000:1", {"3000 problems", "40000 lengths"}},
      {"tile-map --nq 8 --W 4 --rule fa3 --dtype fp8_e4m3", {"--dtype fp8_e4m3", "16-bit"}},
      {"tile-map --lengths-q 3,5 --W 4 --conventions", {"--conventions", "lists"}},
      {"trap-demo alignment --mask ck:t:127,0", {"--mask ck:t:127,0", "top-left"}},
      {"trap-demo nan --mask chunked:8", {"--mask chunked:8", "no causal window"}},
      {"trap-demo off-by-one --mask none", {"off-by-one", "--W none"}},
      {"ring-sim --mask none", {"--mask none", "ring"}},
      {"kv-budget --ctx 1152921504606846976", {"2^63"}},
      {"kv-budget --batch 1152921504606846976", {"2^63"}},
  };
  for (const Row& row : rows) check_refused(row.line, row.parts);
}

TEST_CASE("contradictions, second spellings and options without a say are refused") {
  struct Row {
    string line;
    vector<string> parts;
  };
  vector<Row> rows{
      {"trap-demo off-by-one --BM 32", {"--BM", "off-by-one"}},
      {"trap-demo off-by-one --chunk 3", {"--chunk", "off-by-one"}},
      {"trap-demo alignment --guard on", {"--guard", "alignment"}},
      {"trap-demo rope-slot --order reverse", {"--order", "rope-slot"}},
      {"trap-demo all --BM 32", {"--BM"}},
      {"trap-demo top-left --chunk 3", {"--chunk", "fault"}},
      {"trap-demo all-rope --seed 1", {"--seed", "fault"}},
      {"trap-demo nan --list --n 3", {"--n", "--list"}},
      {"tile-map --nq 8 --W 3 --reach LL --show", {"--reach", "tiles"}},
      {"tile-map --nq 8 --W 3 --reach LL --show-mask", {"--reach"}},
      {"tile-map --nq 8 --W 3 --reach LL --BM 16", {"--reach", "tiles"}},
      {"tile-map --nq 8 --W 3 --reach LL --head-dim 32", {"--reach"}},
      {"tile-map --nq 8 --W 3 --reach LL --dtype fp32", {"--reach"}},
      {"tile-map --nq 8 --W 3 --reach LL --sinks 1", {"--reach"}},
      {"tile-map --nq 8 --nk 9 --W 3 --reach LL", {"--reach"}},
      {"tile-map --nq 8 --left 2 --right 1 --reach LL", {"--reach"}},
      {"tile-map --nq 8 --reach LLL", {"--reach", "--W"}},  // L is a layer with a window
      {"trap-demo nan --W 3 --mask hf:3", {"--W", "--mask"}},
      {"ring-sim --W 3 --mask hf:3", {"--W", "--mask"}},
      {"tile-map --W 3 --conventions --BM 16", {"--BM", "--conventions"}},
      {"tile-map --W 3 --conventions --show", {"--show", "--conventions"}},
      {"tile-map --W 3,4 --conventions", {"--conventions", "lists"}},
      {"tile-map --nq 8 --W 3 --layers LG --show", {"--show", "--layers"}},
      {"tile-map --nq 8 --W 3 --layers LG --reach LG", {"--layers", "--reach"}},
      {"tile-map --nq 8 --mask chunked:4 --reach LL", {"--reach"}},
      {"verify --suite chapter --lengths-q 8", {"--suite"}},
      {"verify --suite chapter --mask hf:8", {"--suite"}},
      {"verify --suite chapter --nq 8", {"--suite"}},
      {"verify --suite chapter --W 8", {"--suite"}},
      {"verify --suite chapter --seed 8", {"--suite"}},
      {"verify --suite chapter --inputs large", {"--suite"}},
      {"verify --suite chapter --stream counter", {"--suite"}},
      {"verify --random 3 --stream counter", {"--random"}},
      {"verify --suite chapter --cache paged", {"--suite"}},
      {"verify --nq 8 --W 4 --capacity 8", {"--capacity", "--cache", "ring"}},
      {"verify --nq 8 --W 4 --cache paged --capacity 8", {"--capacity", "ring cache"}},
      {"verify --nq 8 --W 4 --cache ring --page 8", {"--page", "paged cache"}},
      {"verify --suite full --cases x.toml", {"--suite", "--cases"}},
      {"verify --cases x.toml --nq 8", {"--cases"}},
      {"verify --nq 8 --match square", {"--match"}},
      {"verify --list --fail-fast", {"--list", "--fail-fast"}},
      {"verify --list --kernel cpu-tiled", {"--list", "--kernel"}},
      {"verify --list --BM 8", {"--list", "--BM"}},
      {"verify --list --BN 8", {"--list", "--BN"}},
      {"verify --kill-matrix --list", {"--kill-matrix", "--list"}},
      {"verify --list --export x.svg", {"--list", ".svg"}},
      {"verify --list-faults --export x.svg", {"--list-faults", ".svg"}},
      {"verify --kill-matrix --export x.svg", {"--kill-matrix", ".svg"}},
  };
  for (const string command : {"tile-map", "verify"}) {
    const string problem = command + " --nq 8 ";
    rows.insert(rows.end(),
                {{problem + "--W 3 --window 4", {"--W"}},
                 {problem + "--W 3 -W 4", {"--W"}},
                 {problem + "--W 3 --left 2", {"--W", "--left"}},
                 {problem + "--W 3 --right 0", {"--W", "--right"}},
                 {problem + "--W none --left 2", {"--W", "--left"}},
                 {problem + "--causal --no-causal", {"--causal", "--no-causal"}},
                 {problem + "--W 3 --no-causal", {"--W", "--no-causal"}},
                 {problem + "--W 3 --mask hf:3", {"--mask", "--W"}},
                 {problem + "--left 3 --mask hf:3", {"--mask", "--left/--right"}},
                 {problem + "--mask hf:3 --no-causal", {"--mask hf:3", "--no-causal"}},
                 {problem + "--mask ck:b:3,2 --causal", {"ck:b:3,2", "--causal"}},
                 {problem + "--mask fa:3,0 --anchor top-left", {"--anchor", "fa:3,0"}},
                 {problem + "--mask ck:t:3,0 --anchor bottom-right", {"--anchor", "ck:t:3,0"}},
                 {problem + "--mask nobody:3", {"--mask nobody:3", "convention"}},
                 {problem + "--causal --right 3", {"--right 3", "--causal"}},
                 {problem + "--causal --right none", {"--right none", "--causal"}}});
  }
  for (const Row& row : rows) check_refused(row.line, row.parts);
}

TEST_CASE("unknown words are refused with the nearest known one") {
  struct Row {
    string line, sentence, remedy;
  };
  const vector<Row> rows{
      {"kv-budget --modle gemma2-27b", "'--modle'", "'--model'"},
      {"kv-budget --model gema2-27b", "gema2-27b", "'gemma2-27b'"},
      {"kv-budget --model surely-not", "surely-not", "kv-budget --list"},
      {"kv-budget --dtype fp8_e4", "--dtype fp8", "fp8_e4m3"},
      {"kv-budget --dtype fp64", "--dtype fp64", "bf16"},
      {"kv-budget --format xml", "--format xml", "json"},
      {"kv-budget --format JSON", "--format JSON", "json"},
      {"kv-budget --format jsn", "--format jsn", "'json'"},
      {"tile-map --nq 8 --windw 3", "'--windw'", "'--window'"},
      {"tile-map --nq 8 --windw=3", "'--windw'", "'--window'"},
      {"tile-map -nq 8", "'-nq'", "'--nq'"},
      {"tile-map --nq 8 --anchor top", "--anchor top", "'top-left'"},
      {"tile-map --nq 8 -x", "'-x'", "--help"},
      {"tile-map --nq 8 --W 4 --reach LXL", "--reach", "LLLG"},
      {"tile-map --nq 8 --W 4 --reach lllg", "--reach", "LLLG"},
      {"verify --nq 8 --suite chapter2", "--suite", ""},
      {"verify --suite chaptr", "--suite chaptr", "'chapter'"},
      {"verify --suite full --match chnk", "--match 'chnk'", "'chunk'"},
      {"verify --suite full --match square,zebra*", "--match 'zebra*'", "--list"},
      {"verify --suite ../models/chapter", "--suite ../models/chapter", "chapter"},
      {"verify --nq 8 --kernel cpu-tild", "cpu-tild", "'cpu-tiled'"},
      {"verify --nq 8 --kernel cpu-tiled,nothing", "nothing", "cpu-tiled"},
      {"verify --nq 8 --kernel " + kThisFile, "but a file", "plugin:" + kThisFile},
      {"trap-demo", "no trap", "nan, off-by-one, alignment, rope-slot, all"},
      {"trap-demo", "no trap", "--list names"},
      {"trap-demo zebra", "trap zebra", "--list names"},
      {"trap-demo window-one-to-wide", "window-one-to-wide", "'window-one-too-wide'"},
      {"trap-demo sink-logits", "sink-logits", "'all-sink-logits'"},
      {"trap-demo all-rop", "all-rop", "'all-rope'"},
      {"trap-demo nam", "nam", "'nan'"},
      {"trap-demo ''", "trap", "nan"},
      {"trap-demo off_by_one", "off_by_one", "'off-by-one'"},
      {"trap-demo nan --guard maybe", "--guard maybe", "on, off"},
      {"trap-demo nan --order up", "--order up", "forward, reverse"},
      {"ring-sim --sinks 3", "'--sinks'", "--help"},
      {"reproduce --chek", "'--chek'", "'--check'"},
      {"reproduce --W 3", "'--W'", "--help"},
      {"kernels --chek", "'--chek'", "'--check'"},
      {"kernels --check --kernel naive", "--check looks at every instance", "--kernel"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const Finished run = run_swa(row.line);
    INFO("stderr: ", run.err);
    CHECK(run.status == 2);
    check_complaint(run, who(words(row.line)), {row.sentence});
    check_remedy(run, row.remedy);
  }
}

TEST_CASE("stray words are named, and the remedy fits the command") {
  for (const string line :
       {"kv-budget stray", "tile-map --nq 8 stray", "verify --nq 8 stray", "trap-demo nan stray",
        "ring-sim stray", "reproduce stray", "kernels stray", "kv-budget -- stray",
        "trap-demo nan nan", "verify ring-sim"}) {
    check_refused(line, {"'" + words(line).back() + "'"});
  }
  CHECK_FALSE(contains(run_swa("kv-budget stray").err, "--W"));  // it has no such option
  CHECK_FALSE(contains(run_swa("reproduce stray").err, "--W"));
}

TEST_CASE("a word in the place of the command is named") {
  struct Row {
    string line, sentence, remedy;
  };
  const vector<Row> rows{
      {"", "no command", "swa --help"},
      {"''", "command", "swa --help"},
      {"verfy", "'verfy'", "'verify'"},
      {"kv_budget", "'kv_budget'", "'kv-budget'"},
      {"surely-not", "'surely-not'", "kv-budget"},
      {"--foo", "'--foo'", "swa --help"},
      {"--format json kv-budget", "'--format'", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const Finished run = run_swa(row.line);
    INFO("stderr: ", run.err);
    CHECK(run.status == 2);
    check_modest(run);
    check_complaint(run, "swa", {row.sentence});
    check_remedy(run, row.remedy);
    CHECK_FALSE(contains(run.err, "swa swa"));
    CHECK_FALSE(contains(run.err, "''"));
  }
}

TEST_CASE("a pattern whose kernels another one named already is not unknown") {
  CHECK(run_swa("verify --nq 8 --kernel cpu-tiled,cpu-*").status == 0);
}

// Valid questions that no machine has the memory for: said before anything is allocated.
TEST_CASE("what needs more memory than there is says so first") {
  for (const string line : {
           "verify --nq 4Mi --head-dim 65536",
           "verify --nq 2147483648",
           "verify --nq 4294967296 --W 1",
           "verify --nq 1Ti --W 128",
           "verify --nq 1152921504606846976",
           "verify --nq 4 --nk 1152921504606846976 --W 4",
           "verify --nq 1152921504606846976 --batch 1152921504606846976",
           "verify --nq 4 --heads 1152921504606846976",
           "verify --nq 4 --heads 1152921504606846976 --kv-heads 1",
           "verify --nq 4,8 --batch 1Ti",
           "verify --kill-matrix --nq 1Ti",
           "verify --kill-matrix --nq 4Mi --W 4",
           "verify --nq 8 --W 4 --cache ring --capacity 1152921504606846976",
           "verify --nq 8 --cache paged --page 1152921504606846976",
           "verify --nq 1 --nk 1152921504606846976 --W 4 --cache ring",
           "trap-demo nan --n 1Ti",
           "trap-demo nan --n 1152921504606846976",
           "trap-demo nan --n 1Ti --chunk 1",
           "trap-demo nan --n 1Mi --W 1 --head-dim 1 --BM 1Mi --BN 1Mi",
           "trap-demo off-by-one --n 1Ti",
           "trap-demo alignment --n 1152921504606846976",
           "trap-demo rope-slot --n 1Ti",
           "trap-demo rope-slot --n 1152921504606846976",
           "trap-demo rope-slot --n 1Ti --W 1152921504606846976",
           "ring-sim --steps 1Ti",
           "ring-sim --steps 1152921504606846976",
           "ring-sim --steps 1Ti --prefill 1Ti",
           "ring-sim --steps 1Ti --W 1152921504606846976 --page 1",
       }) {
    CAPTURE(line);
    const Finished run = run_swa(line, {.timeout = 5});
    INFO("stderr: ", run.err);
    CHECK(run.status == 3);
    check_modest(run);
    check_complaint(run, who(words(line)), {"GiB", "available"});
  }
}

// A huge value that is no obstacle by itself: answered, or refused with a sentence.
TEST_CASE("huge values are answered or refused, never a crash, a hang or a defect") {
  for (const string size : {"2147483647", "2147483648", "4294967295", "4294967296", "1Ti",
                            "1152921504606846975", "1152921504606846976"}) {
    for (const string& line : {
             "kv-budget --ctx " + size,
             "kv-budget --batch " + size,
             "kv-budget --ctx " + size + " --batch " + size,
             "tile-map --nq 8 --W " + size,
             "tile-map --nq 8 --left " + size + " --right " + size,
             "tile-map --nq 1 --nk " + size + " --sinks " + size + " --W 1",
             "tile-map --nq 1 --nk " + size + " --W " + size,
             "tile-map --nq 8 --nk " + size + " --anchor top-left --right " + size,
             "tile-map --nq 8 --BM " + size,
             "tile-map --nq 8 --BN " + size,
             "tile-map --nq " + size + " --BM " + size + " --BN " + size,
             "tile-map --nq " + size + " --nk 1 --BM " + size + " --no-causal",
             "tile-map --nq " + size + " --BM " + size + " --BN 1 --W " + size,
             "tile-map --nq " + size + " --W " + size + " --reach LGLL",
             "verify --nq 8 --W " + size,
             "verify --nq 8 --left " + size + " --right " + size,
             "verify --nq 8 --W " + size + " --cache ring",
             "verify --nq 8 --W 4 --cache ring --capacity " + size,
             "verify --nq 8 --W 4 --cache paged --page " + size,
             "verify --nq 8 --BM " + size,
             "verify --nq 8 --BN " + size,
             "verify --nq 8 --BM " + size + " --BN " + size,
             "verify --nq 8 --seed " + (size == "1Ti" ? string("1099511627776") : size),
             "trap-demo nan --n 70 --W " + size,
             "trap-demo nan --n 70 --chunk " + size,
             "trap-demo nan --n 70 --BM " + size + " --BN " + size,
             "trap-demo off-by-one --n 70 --W " + size,
             "trap-demo alignment --n 70 --chunk 7 --W " + size,
             "trap-demo alignment --n 70 --chunk " + size,
             "trap-demo rope-slot --W " + size,
             "ring-sim --W " + size,
             "ring-sim --page " + size,
             "ring-sim --prefill " + size,
             "ring-sim --prefill 20 --chunk " + size,
         }) {
      CAPTURE(line);
      const Finished run = run_swa(line, {.timeout = 5});
      INFO("stderr: ", run.err);
      check_modest(run);
      CHECK((run.status == 0 || run.status == 2 || run.status == 3));
      if (run.status == 0) {
        CHECK(run.err.empty());
      } else {
        check_complaint(run, who(words(line)), {});
        CHECK_FALSE(contains(run.err, "there is not enough memory"));  // noticed too late
      }
    }
  }
}

// Numbers beyond 2^53 are strings in JSON.
TEST_CASE("huge values that are answered are answered rightly") {
  struct Row {
    string line, key, value;
  };
  const vector<Row> rows{
      // 2^31 rows are T = 2^24 tiles of 128: T (T + 1) / 2 visited, n (n + 1) / 2 pairs.
      {"tile-map --nq 2147483648", "visited", "140737496743936"},
      {"tile-map --nq 2147483648", "partial", "16777216"},
      {"tile-map --nq 2147483648", "visible_pairs", "2305843010287435776"},
      // n W - W (W - 1) / 2 pairs.
      {"tile-map --nq 2147483648 --W 4096", "visible_pairs", "8796084635648"},
      {"tile-map --nq 2147483649 --W 2147483649", "visible_pairs", "2305843012434919425"},
      {"tile-map --nq 1 --nk 1152921504606846976", "visible_pairs", "1152921504606846976"},
      // 2^40 rows: 2^79 + 2^39 pairs, 2^33 tiles of 128 on the diagonal.
      {"tile-map --nq 1Ti", "visible_pairs", "604462909807864343166976"},
      {"tile-map --nq 1Ti", "partial", "8589934592"},
      {"tile-map --nq 1Ti --W 4096 --rule flashinfer --head-dim 128", "empty", "8589934559"},
      {"tile-map --nq 1Ti --mask chunked:8192", "visible_pairs", "4504149383184384"},
      {"tile-map --nq 1152921504606846976", "visible_pairs",
       "664613997892457937028364282443595776"},
      {"tile-map --lengths-q 1152921504606846974,1,1 --W 2", "visible_pairs",
       "2305843009213693949"},
      {"tile-map --nq 1 --nk 1152921504606846976", "full", "9007199254740992"},
      {"tile-map --nq 8 --W 1152921504606846976", "visible_pairs", "36"},
      {"tile-map --nq 1Ti --BM 1Ti --BN 1Ti --W 4", "visible_pairs", "4398046511098"},
      {"tile-map --nq 1152921504606846976 --BM 1152921504606846976 --BN 1 --W 4", "partial",
       "1152921504606846976"},
      {"tile-map --nq 1152921504606846976 --W 4 --reach LLLL", "first_dependence",
       "1152921504606846963"},
      {"tile-map --nq 1152921504606846976 --W 1152921504606846976 --reach LL", "first_dependence",
       "0"},
      // 32 layers, 8 heads, 128 elements, K and V, 2 bytes: 131,072 bytes a token.
      {"kv-budget --model mistral-7b-v0.1 --ctx 1Ti", "bytes_all_global", "144115188075855872"},
      {"kv-budget --model mistral-7b-v0.1 --ctx 1Ti", "bytes", "536870912"},
      {"kv-budget --model mistral-7b-v0.1 --ctx 4096 --batch 4294967296", "bytes",
       "2305843009213693952"},
      {"kv-budget --model mistral-7b-v0.1 --ctx 70368744177663", "bytes_all_global",
       "9223372036854644736"},  // 2^63 - 2^17
      {"ring-sim --page 1152921504606846976", "max_live_pages", "1"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    CAPTURE(row.key);
    const Finished run = run_swa(row.line + " --format json");
    CHECK(run.status == 0);
    CHECK(run.seconds < kSecond);
    if (run.status != 0) continue;
    const nlohmann::json record = nlohmann::json::parse(run.out)["records"].back();
    REQUIRE(record.contains(row.key));
    const nlohmann::json& value = record[row.key];
    CHECK((value.is_string() ? value.get<string>() : value.dump()) == row.value);
  }
  // One token more is 2^63 bytes.
  check_refused("kv-budget --model mistral-7b-v0.1 --ctx 70368744177664", {"2^63"});
}

TEST_CASE("output that cannot be written is said") {
  for (const string line :
       {"kv-budget", "kv-budget --format json", "tile-map --nq 8", "verify --nq 8",
        "trap-demo off-by-one --n 70 --W 3", "ring-sim", "--help", "verify --help", "--version"}) {
    for (const Sink sink : {Sink::full, Sink::closed}) {
      CAPTURE(line);
      CAPTURE(static_cast<int>(sink));
      const Finished run = run_swa(line, {.out = sink});
      CHECK(run.status == 3);
      CHECK(run.err.starts_with("swa"));
    }
  }
}

TEST_CASE("a complaint that nobody hears keeps its status") {
  for (const Sink sink : {Sink::full, Sink::closed}) {
    CAPTURE(static_cast<int>(sink));
    CHECK(run_swa("kv-budget --ctx 0", {.err = sink}).status == 2);
    CHECK(run_swa("verify --nq 1Ti", {.err = sink}).status == 3);
    CHECK(run_swa("kv-budget", {.err = sink}).status == 0);
  }
}
