// The conventions of other projects, against a hand-made table of who sees what.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "error.hpp"
#include "mask/conventions.hpp"

using namespace swa;

namespace {

// The keys that the query at position p = 100 sees of 200, as first and last.
std::pair<Index, Index> keys_at_100(const std::string& spec) {
  const MaskSpec read = parse_mask_spec(spec);
  const Mask mask = Mask::make(read.window, 0, 200, 200, read.anchor);
  std::vector<Index> keys;
  for (Index key = 0; key < 200; ++key) {
    if (sees(mask, 100, key)) keys.push_back(key);
  }
  REQUIRE(!keys.empty());
  REQUIRE(keys.back() - keys.front() + 1 == static_cast<Index>(keys.size()));
  return {keys.front(), keys.back()};
}

// Empty where the system cannot say it.
std::string call_of(const std::string& word, const Mask& mask) {
  for (const Phrase& phrase : phrases(mask)) {
    if (phrase.word == word) return phrase.call;
  }
  return "no such word";
}

Mask square(const Window& window, Index sinks = 0) {
  return Mask::make(window, sinks, 200, 200, Anchor::bottom_right);
}

}  // namespace

TEST_CASE("the number 8 means other keys to each system") {
  struct Row {
    const char* spec;
    Index first, last;  // of the query at 100
  };
  for (const Row& row : std::vector<Row>{
           {"fa:8,0", 92, 100},
           {"fa:8,3", 92, 103},
           {"fa:8,-1", 92, 199},
           {"fa:-1,8", 0, 108},
           {"fa:0,0", 100, 100},
           {"fa4:8,0", 92, 100},
           {"torch:8,0", 92, 100},
           {"te:8,0", 92, 100},
           {"jax:8,0", 92, 100},
           {"flashinfer:8", 92, 100},
           {"flashinfer:-1", 0, 100},
           {"sglang:8", 92, 100},
           {"axlearn:8", 92, 100},  // 9 keys
           {"hf:8", 93, 100},       // 8 keys
           {"vllm:8", 93, 100},
           {"xformers:8", 93, 100},
           {"xformers-local:8,2", 92, 102},
           {"cudnn:8", 93, 100},
           {"cudnn:8,0", 93, 100},
           {"cudnn:8,-1", 93, 199},
           {"cudnn:-1,0", 0, 100},
           {"trtllm:8", 93, 100},
           {"cutlass:8", 93, 100},
           {"gpt-oss:8", 93, 100},
           {"ort:8", 93, 100},
           {"llama.cpp:8", 93, 100},
           {"llama.cpp:symmetric:8", 96, 104},
           {"llama.cpp:symmetric:9", 96, 104},
           {"modernbert:128", 36, 164},  // 129 keys
           {"ck:b:8,0", 92, 100},
           {"ck:t:8,1", 92, 101},
           {"ck:xb:8", 96, 103},  // 8 keys around
           {"ck:xt:7", 97, 103},
           {"chunked:8", 96, 100},
           {"llama.cpp:chunked:8", 96, 100},
           {"chunked:100", 100, 100},
           {"none", 0, 100},
           {"causal", 0, 100},
           {"full", 0, 199},
       }) {
    CAPTURE(row.spec);
    CHECK(keys_at_100(row.spec) == std::pair(row.first, row.last));
  }
}

TEST_CASE("a window of 128 keys in the words of each system") {
  const Mask mask = square(Window::causal(128));
  CHECK(call_of("fa", mask) == "causal=True, window_size=(127, 0)");
  CHECK(call_of("fa4", mask) == "causal=True, window_size=(127, 0)");
  CHECK(call_of("flashinfer", mask) == "causal=True, window_left=127");
  CHECK(call_of("sglang", mask) == "sliding_window_size=127");
  CHECK(call_of("hf", mask) == "sliding_window=128");
  CHECK(call_of("xformers", mask) ==
        "LowerTriangularFromBottomRightLocalAttentionMask(_window_size=128)");
  CHECK(call_of("cudnn", mask) ==
        "diagonal_alignment=BOTTOM_RIGHT, diagonal_band_left_bound=128, "
        "diagonal_band_right_bound=0");
  CHECK(call_of("llama.cpp", mask) == "n_swa=128, LLAMA_SWA_TYPE_STANDARD");
  CHECK(call_of("ck:b", mask) == "-mask=b:127,0");
  CHECK(call_of("chunked", mask).empty());
  CHECK(call_of("modernbert", mask).empty());
  CHECK(call_of("", mask) == "lambda b, h, q, kv: (kv <= q) & (kv >= q - 127)");
}

TEST_CASE("no window in the words of each system") {
  const Mask mask = square(Window::global());
  CHECK(call_of("fa", mask) == "causal=True, window_size=(-1, -1)");
  CHECK(call_of("fa4", mask) == "causal=True, window_size=(None, None)");
  CHECK(call_of("flashinfer", mask) == "causal=True, window_left=-1");
  CHECK(call_of("ck:b", mask) == "-mask=b:-1,0");
  CHECK(call_of("hf", mask).empty());
  CHECK(call_of("xformers-local", mask).empty());
}

TEST_CASE("what a system cannot say is refused with the reason") {
  const auto reason = [](const std::string& word, const Mask& mask) -> std::string {
    for (const Phrase& phrase : phrases(mask)) {
      if (phrase.word == word) return phrase.reason;
    }
    return "no such word";
  };
  const Window W = Window::causal(8);
  CHECK(reason("fa", square(W, 4)) == "not converted: sink tokens");
  CHECK(reason("fa", Mask::make(W, 0, 4, 9, Anchor::top_left)) == "it aligns bottom-right");
  CHECK(reason("ck:t", Mask::make(W, 0, 4, 9, Anchor::bottom_right)) == "it aligns top-left");
  CHECK(reason("hf", Mask::make(W, 0, 4, 9, Anchor::top_left)) ==
        "its calls on a cache align bottom-right");
  CHECK(reason("fa", square(Window::chunked(8))) == "not converted: chunks");
  CHECK(reason("chunked", square(W)) == "the mask has no chunks");
  CHECK(reason("hf", square(Window::band(Side::of(3), Side::of(3)))) == "it hides later keys");
  CHECK(reason("cutlass", square(W)) == "decode only: one query");
  CHECK(reason("cutlass", Mask::make(W, 0, 1, 9, Anchor::bottom_right)).empty());
  CHECK(reason("xformers-local", square(Window::band(Side::of(3), Side::unbounded()))) ==
        "both sides need a bound");
  for (const Phrase& phrase : phrases(square(W)))
    CHECK(phrase.call.empty() != phrase.reason.empty());
}

TEST_CASE("what is said is read back as the same window") {
  std::vector<Window> windows{Window::global(),     Window::causal(1),  Window::causal(2),
                              Window::causal(4096), Window::chunked(1), Window::chunked(8192)};
  for (const Side left : {Side::of(0), Side::of(1), Side::of(7), Side::of(8), Side::unbounded()}) {
    for (const Side right : {Side::of(1), Side::of(7), Side::of(8), Side::unbounded()}) {
      windows.push_back(Window::band(left, right));
    }
  }
  std::vector<std::string> said;
  for (const Window& window : windows) {
    for (const Phrase& phrase : phrases(Mask::make(window, 0, 1, 1, Anchor::bottom_right))) {
      if (phrase.spec.empty()) continue;
      CAPTURE(phrase.spec);
      CHECK(parse_mask_spec(phrase.spec).window == window);
      said.push_back(phrase.word);
    }
  }
  for (const std::string& word : convention_words()) {
    CAPTURE(word);
    CHECK(std::count(said.begin(), said.end(), word) >= 2);
  }
}

TEST_CASE("what is said of fewer queries than keys is read back as the same mask") {
  for (const Anchor anchor : {Anchor::bottom_right, Anchor::top_left}) {
    std::size_t specs = 0;
    for (const Phrase& phrase : phrases(Mask::make(Window::causal(3), 0, 4, 9, anchor))) {
      if (phrase.spec.empty()) continue;
      ++specs;
      CAPTURE(phrase.spec);
      const std::string asked = " --anchor bottom-right";
      const bool asks = phrase.spec.ends_with(asked);
      const MaskSpec read =
          parse_mask_spec(phrase.spec.substr(0, phrase.spec.size() - (asks ? asked.size() : 0)));
      CHECK(read.window == Window::causal(3));
      CHECK((asks ? Anchor::bottom_right : read.anchor) == anchor);
      CHECK(asks <= !read.anchor_is_fixed);
    }
    CHECK(specs >= 3);
  }
}

TEST_CASE("FlexAttention's predicate holds exactly where the mask does") {
  // The predicate is code for another language, so its parts are compared by hand.
  const auto text = [](const Mask& mask) { return call_of("", mask).substr(20); };
  CHECK(text(Mask::make(Window::causal(3), 2, 4, 10, Anchor::bottom_right)) ==
        "(kv <= (q + 6)) & ((kv >= (q + 6) - 2) | (kv < 2))");
  CHECK(text(Mask::make(Window::chunked(4), 0, 9, 4, Anchor::bottom_right)) ==
        "(kv <= (q - 5)) & (kv // 4 == (q - 5) // 4)");
  CHECK(text(square(Window::band(Side::of(2), Side::of(5)))) == "(kv <= q + 5) & (kv >= q - 2)");
  CHECK(text(square(Window::band(Side::unbounded(), Side::unbounded()))) == "kv >= 0");
}

TEST_CASE("the causal flag where a system has one") {
  const Window open = Window::band(Side::of(8), Side::unbounded());
  CHECK(parse_mask_spec("fa:8,-1", true).window == Window::causal(9));
  CHECK(parse_mask_spec("fa:8,-1").window == open);
  CHECK(parse_mask_spec("fa:8,3", true).window == Window::causal(9));  // as flash_attn_func does
  CHECK(parse_mask_spec("flashinfer:8", false).window == open);
  CHECK(parse_mask_spec("flashinfer:8", true).window == Window::causal(9));
  CHECK_THROWS_AS(parse_mask_spec("hf:8", false), UsageError);
  CHECK_THROWS_AS(parse_mask_spec("chunked:8", false), UsageError);
  CHECK_THROWS_AS(parse_mask_spec("ck:b:8,3", true), UsageError);
  CHECK_THROWS_AS(parse_mask_spec("full", true), UsageError);
  CHECK_THROWS_AS(parse_mask_spec("causal", false), UsageError);
}

TEST_CASE("each system's alignment") {
  const auto anchor = [](const char* spec) { return parse_mask_spec(spec).anchor; };
  const auto fixed = [](const char* spec) { return parse_mask_spec(spec).anchor_is_fixed; };
  CHECK(anchor("fa:8,0") == Anchor::bottom_right);
  CHECK(fixed("fa:8,0"));
  CHECK(anchor("ck:t:8,0") == Anchor::top_left);
  CHECK(fixed("ck:t:8,0"));
  CHECK(anchor("cudnn:8") == Anchor::top_left);
  CHECK_FALSE(fixed("cudnn:8"));
  CHECK(anchor("hf:8") == Anchor::bottom_right);
  CHECK_FALSE(fixed("hf:8"));
}

TEST_CASE("specifications that mean nothing are refused") {
  for (const char* spec : {"",
                           "fa",
                           "fa:",
                           "fa:1",
                           "fa:1,2,3",
                           "fa:1,x",
                           "fa:1.5,0",
                           "fa:-2,0",
                           "fa:, ",
                           "hf:0",
                           "hf:-1",
                           "hf:1,2",
                           "chunked:0",
                           "cudnn:0",
                           "cudnn:-2",
                           "cudnn:1,2,3",
                           "ck:8,0",
                           "ck:xb:0",
                           "modernbert:-1",
                           "nobody:8",
                           "8",
                           "FA:8,0",
                           " fa:8,0",
                           "fa:8,0 ",
                           "fa:99999999999999999999,0",
                           "fa:1152921504606846976,0",
                           "hf:1152921504606846977",
                           "modernbert:0",
                           "xformers-local:-1,0",
                           "fa:1Ki,0",
                           "llama.cpp:symmetric:"}) {
    CAPTURE(spec);
    CHECK_THROWS_AS(parse_mask_spec(spec), UsageError);
  }
}
