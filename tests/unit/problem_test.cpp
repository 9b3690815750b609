#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "error.hpp"
#include "problem/sweep.hpp"
#include "problem/words.hpp"

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

TEST_CASE("inputs: uniform ones are of the same stream and sink logits stay normal") {
  Problem p;
  p.n_q = 2;
  p.n_k = 3;
  p.head_dim = 2;
  p.dtype = Dtype::fp64;
  p.inputs = Recipe::uniform;
  p.sink_logits = true;
  p.heads_q = p.heads_kv = 1;
  const Inputs inputs = make_inputs(p);
  // NumPy 2.4.6: r = default_rng(0); r.random(16); r.standard_normal(1)
  CHECK(inputs.q.data[0] == 0.6369616873214543);
  CHECK(inputs.q.data[1] == 0.2697867137638703);
  CHECK(inputs.k.data[0] == 0.8132702392002724);
  CHECK(inputs.v.data[0] == 0.8158535541215322);
  CHECK(inputs.sink_logits == std::vector<double>{-0.5442589828573099});
}

TEST_CASE("inputs: large ones are normal ones times 64 in q and k alone") {
  Problem p;
  p.n_q = p.n_k = 16;
  p.dtype = Dtype::fp16;
  const Inputs normal = make_inputs(p);
  p.inputs = Recipe::large;
  const Inputs large = make_inputs(p);
  CHECK(large.q.data[0] == 64 * normal.q.data[0]);
  CHECK(large.k.data[5] == 64 * normal.k.data[5]);
  CHECK(large.v.data == normal.v.data);
  // The reason for the recipe: a product that is not scaled first does not fit fp16.
  double most = 0;
  for (Index row = 0; row < p.n_q; ++row) {
    double product = 0;
    for (Index d = 0; d < p.head_dim; ++d) {
      product += large.q.row(0, 0, row)[d] * large.k.row(0, 0, row)[d];
    }
    most = std::max(most, std::abs(product));
  }
  CHECK(most > largest_finite(Dtype::fp16));
}

TEST_CASE("every recipe has a name of its own and is printed unless it is the usual one") {
  for (const std::string& word : recipe_words()) {
    Problem p;
    p.n_q = p.n_k = 4;
    p.inputs = *parse_recipe(word);
    CHECK(name(p.inputs) == word);
    CHECK(options(p) == (word == "normal" ? "--nq 4" : "--nq 4 --inputs " + word));
  }
  CHECK(recipe_words().size() == 3);
  CHECK_FALSE(parse_recipe("Normal"));
}
