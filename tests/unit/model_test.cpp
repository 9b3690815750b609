#include "budget/demand.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "error.hpp"
#include "model/names.hpp"
#include "scratch.hpp"

using namespace swa;

namespace {

const std::vector<Model>& catalogue() {
  static const std::vector<Model> kModels = read_catalogue(SWA_SOURCE_DIR "/data/models");
  return kModels;
}

const Model& model(const std::string& id) {
  const Model* found = find_model(catalogue(), id);
  REQUIRE(found != nullptr);
  return *found;
}

}  // namespace

TEST_CASE("layers of the chapter's models") {
  CHECK(model("mistral-7b-v0.1").local_layers() == 32);
  CHECK(model("gemma2-27b").local_layers() == 23);
  CHECK(model("gemma2-27b").global_layers() == 23);
  CHECK(model("gemma2-27b").layers.front().is_local());
  CHECK(model("gpt-oss-120b").local_layers() == 18);
  CHECK(model("gemma2-27b-5to1").local_layers() == 39);
  CHECK(model("gemma2-27b-5to1").global_layers() == 7);
}

TEST_CASE("bytes of the cache worked by hand") {
  // 32 layers x 2 x 8 x 128 x 2 bytes = 131,072 per token; flat from W = 4096 on.
  const Model& mistral = model("mistral-7b-v0.1");
  CHECK(logical_bytes(mistral, {1, 1}) == 131'072);
  CHECK(logical_bytes(mistral, {4'095, 1}) == 4'095 * 131'072);
  CHECK(logical_bytes(mistral, {4'096, 1}) == Index{1} << 29);
  CHECK(logical_bytes(mistral, {131'072, 1}) == Index{1} << 29);
  CHECK(all_global_bytes(mistral, {131'072, 1}) == Index{16} << 30);
  const CacheType fp8 = *parse_cache_type("fp8");
  CHECK(logical_bytes(mistral, {4'096, 3, fp8, fp8}) == 3 * (Index{1} << 28));
}

TEST_CASE("one local layer per global one never saves as much as 2x") {
  for (const char* id : {"gemma2-27b", "gpt-oss-120b"}) {
    for (Index context = 1; context <= Index{1} << 40; context *= 2) {
      const Demand demand{context, 1};
      CHECK(2 * logical_bytes(model(id), demand) > all_global_bytes(model(id), demand));
    }
  }
}

TEST_CASE("contexts that the model supports") {
  CHECK(model("gemma2-27b").supports(8'192));
  CHECK_FALSE(model("gemma2-27b").supports(8'193));
  CHECK(model("gpt-oss-120b").supports(131'072));
  CHECK_FALSE(model("gemma2-27b-5to1").supports(1));  // nobody published it
}

TEST_CASE("caches past 2^63 bytes are refused not wrapped") {
  CHECK_THROWS_AS(all_global_bytes(model("gemma2-27b"), {kMaxIndex, 1}), UsageError);
  CHECK_THROWS_AS(logical_bytes(model("mistral-7b-v0.1"), {8'192, kMaxIndex}), UsageError);
}

TEST_CASE("how far back a stack depends") {
  CHECK(stacked_reach(model("mistral-7b-v0.1")) == 131'040);
  CHECK(stacked_reach(model("gemma2-27b")) == std::nullopt);
  CHECK(stacked_reach(model("deepseek-v4-flash")) == std::nullopt);  // compressed rows reach all
  CHECK(first_dependence("LLLL", 4, 64) == 51);
  CHECK(first_dependence("LLLLLLLL", 4, 64) == 39);
  CHECK(first_dependence("LLLG", 4, 64) == 0);
  CHECK(first_dependence("L", 1, 64) == 63);
  CHECK(first_dependence("LLLL", 100, 64) == 0);
  CHECK_THROWS_AS(first_dependence("LLX", 4, 64), UsageError);
}

// The chapter's way: booleans pushed through the layers, one matrix product each.
TEST_CASE("the closed form of dependence equals pushing every bit through the layers") {
  for (const char* stack : {"L", "LL", "LLLL", "LG", "GL", "LLLLLLLL"}) {
    for (const Index W : {1, 2, 4, 9}) {
      constexpr Index n = 40;
      std::vector<bool> reached(n);
      reached[n - 1] = true;
      for (const char kind : std::string(stack)) {
        const Mask mask = Mask::make(kind == 'L' ? Window::causal(W) : Window::global(), 0, n, n,
                                     Anchor::bottom_right);
        std::vector<bool> next(n);
        for (Index row = 0; row < n; ++row) {
          for (Index key = 0; key < n; ++key) {
            if (reached[static_cast<std::size_t>(row)] && sees(mask, row, key)) {
              next[static_cast<std::size_t>(key)] = true;
            }
          }
        }
        reached = next;
      }
      CHECK(std::find(reached.begin(), reached.end(), true) - reached.begin() ==
            first_dependence(stack, W, n));
    }
  }
}

TEST_CASE("a broken catalogue says where") {
  const test::Scratch scratch;
  const auto complaint = [&](const std::string& text) -> std::string {
    scratch.write("m.toml", text);
    try {
      read_catalogue(scratch.folder());
    } catch (const UsageError& error) {
      return scratch.without_folder(error.what());
    }
    return "";
  };
  const std::string good =
      "[[model]]\nid = 'a'\ntitle = 'A'\nsource = 's'\nlayers = 2\npattern = 'LG'\nkv_heads = 1\n"
      "head_dim = 4\nsure = 'x'\nwindow = 8\n";
  CHECK(complaint(good) == "");
  CHECK(complaint(good + "windo = 8\n") == "m.toml:11: 'windo' is not a key of [[model]]");
  CHECK(complaint("[[model]]\nid = 'a'\n") ==
        "m.toml:1: 'title' is missing, empty or not a string");
  CHECK(complaint(good.substr(0, good.size() - 11))
            .ends_with("'window' is missing or not a whole number"));
  for (const std::string id : {"$(touch x)", "a b", "a,b", "a*", "\u00e4", "a\"b", "a;b"}) {
    CHECK(complaint("[[model]]\nid = '" + id + "'\n" + good.substr(good.find("title"))) ==
          "m.toml:2: 'id' = '" + id + "' may hold only A-Z a-z 0-9 . _ -");
  }
  CHECK(complaint("[[model]\n").starts_with("m.toml:1: "));
  CHECK_THROWS_AS(read_catalogue("/nonexistent"), UsageError);
}
