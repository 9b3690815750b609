#include <doctest/doctest.h>

#include "error.hpp"
#include "problem/sweep.hpp"
#include "problem/words.hpp"
#include "scratch.hpp"

using namespace swa;

TEST_CASE("a problem prints the options that recreate it defaults left out") {
  Problem p;
  p.n_q = 96;
  p.n_k = 600;
  p.window = Window::causal(100);
  CHECK(options(p) == "--W 100 --nq 96 --nk 600");
  p.heads_q = 8;
  p.heads_kv = 2;
  p.sinks = 4;
  p.sink_logits = true;
  p.softcap = 1.5;
  p.scale = 0.1;
  p.anchor = Anchor::top_left;
  p.dtype = Dtype::bf16;
  p.seed = 18446744073709551615U;
  CHECK(options(p) ==
        "--W 100 --nq 96 --nk 600 --heads 8 --kv-heads 2 --sinks 4 --sink-logits --softcap 1.5 "
        "--scale 0.1 --anchor top-left --dtype bf16 --seed 18446744073709551615");
  Problem band;
  band.n_q = band.n_k = 5;
  band.window = Window::band(Side::of(3), Side::unbounded());
  CHECK(options(band) == "--left 3 --right none --nq 5");
}

TEST_CASE("what has no meaning is refused with a sentence that names the option") {
  const auto complaint = [](auto change) -> std::string {
    Problem p;
    p.n_q = p.n_k = 10;
    change(p);
    try {
      validate(p);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(complaint([](Problem&) {}) == "");
  CHECK(complaint([](Problem& p) { p.heads_q = 12, p.heads_kv = 5; }) ==
        "--heads 12 is not a multiple of --kv-heads 5");
  CHECK(complaint([](Problem& p) { p.sinks = 11; }) ==
        "--sinks 11 is more than the 10 keys there are");
  CHECK(complaint([](Problem& p) { p.n_q = 0; }) == "--nq 0 is less than 1");
}

TEST_CASE("a sweep is every combination the last list fastest") {
  Sweep sweep;
  sweep.n_q = {10, 20};
  sweep.windows = {Window::global(), Window::causal(4)};
  const std::vector<Problem> problems = expand(sweep);
  REQUIRE(problems.size() == 4);
  CHECK(options(problems[0]) == "--nq 10");
  CHECK(options(problems[1]) == "--W 4 --nq 10");
  CHECK(options(problems[3]) == "--W 4 --nq 20");
}

TEST_CASE("a sweep past 100000 problems is refused") {
  Sweep sweep;
  sweep.n_q.assign(1000, 5);
  sweep.head_dim.assign(101, 8);
  CHECK_THROWS_AS(expand(sweep), UsageError);
}

TEST_CASE("words are unique in either spelling") {
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    for (std::size_t j = i + 1; j < kWords.size(); ++j) {
      CHECK(kWords[i].key != kWords[j].key);
      CHECK(kWords[i].option != kWords[j].option);
    }
  }
  CHECK(option_of("n_q") == "--nq");
}

TEST_CASE("inputs: q k and v in that order from one stream rounded") {
  Problem p;
  p.n_q = 2;
  p.n_k = 3;
  p.head_dim = 2;
  p.dtype = Dtype::fp64;
  const Inputs exact = make_inputs(p);
  // NumPy: default_rng(0).standard_normal(16)
  CHECK(exact.q.data[0] == 0.1257302210933933);
  CHECK(exact.k.data[0] == -0.535669373161111);
  CHECK(exact.v.data[0] == -0.6232744625373522);
  p.dtype = Dtype::bf16;
  CHECK(make_inputs(p).q.data[0] == round_to(Dtype::bf16, exact.q.data[0]));
}

TEST_CASE("the chapter's suite reads and says where it is wrong") {
  const std::vector<Case> cases = read_cases(SWA_SOURCE_DIR "/data/cases/chapter.toml");
  REQUIRE(cases.size() == 10);
  CHECK(options(cases[3].problem) == "--W 128 --nq 96 --nk 600 --heads 2");

  const test::Scratch scratch;
  const auto complaint = [&](const std::string& text) -> std::string {
    try {
      read_cases(scratch.write("cases_test.toml", text));
    } catch (const UsageError& error) {
      return scratch.without_folder(error.what());
    }
    return "";
  };
  CHECK(complaint("[[case]]\nname = 'a'\nn_q = 5\nwindo = 3\n") ==
        "cases_test.toml:4: 'windo' is not a key of [[case]]");
  CHECK(complaint("[[case]]\nname = 'a'\nn_q = 0\n") ==
        "cases_test.toml:3: 'n_q' is not within 1 .. 2^60");
  CHECK(complaint("[[case]]\nname = 'a'\nn_q = 'x'\n") ==
        "cases_test.toml:3: 'n_q' is missing or not a whole number");
  CHECK(complaint("[[case]]\nname = 'a'\nn_q = 4\nsinks = 9\n") ==
        "cases_test.toml:2: 'name' = a: --sinks 9 is more than the 4 keys there are");
  CHECK(complaint("[[case]]\nn_q = 4\n") ==
        "cases_test.toml:1: 'name' is missing, empty or not a string");
  CHECK(complaint("x = 1\n") == "cases_test.toml has no [[case]]");
  CHECK(complaint("[[case]\n").starts_with("cases_test.toml:1: "));
  CHECK_THROWS_AS(read_cases("/nonexistent.toml"), UsageError);
}
