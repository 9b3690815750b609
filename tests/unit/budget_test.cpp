// Bytes of whole models under each layout, against figures that were published or measured.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "budget/questions.hpp"
#include "commands/budget_layouts.hpp"
#include "error.hpp"
#include "model/names.hpp"

using namespace swa;

namespace {

constexpr Index kMiB = Index{1} << 20;

const Model& model(const std::string& id) {
  static const std::vector<Model> kModels = read_catalogue(SWA_SOURCE_DIR "/data/models");
  const Model* found = find_model(kModels, id);
  REQUIRE(found != nullptr);
  return *found;
}

ChosenLayout layout(const std::string& text) {
  return commands::parse_layouts("--layout", text).front();
}

Allocation allocated(const std::string& text, const Model& m, Index context, Index batch = 1) {
  return allocate(layout(text), m, {context, batch});
}

Index bytes(const std::string& text, const Model& m, Index context, Index batch = 1) {
  return allocated(text, m, context, batch).bytes();
}

// So many global layers and then so many local ones, of one head each.
Model stack(Index global, Index local, Index W, Index head_dim = 64, Index local_head_dim = 64) {
  Model m;
  m.id = "stack";
  for (Index i = 0; i < global + local; ++i) {
    Layer layer;
    layer.kv_heads = 1;
    layer.head_dim_k = layer.head_dim_v = i < global ? head_dim : local_head_dim;
    if (i >= global) layer.window = Window::causal(W);
    m.layers.push_back(layer);
  }
  return m;
}

std::string refusal(const std::string& text, const Model& m, const Demand& demand) {
  try {
    allocate(layout(text), m, demand);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool assumes(const Allocation& allocation, const std::string& text) {
  const auto& all = allocation.assumptions;
  return std::find(all.begin(), all.end(), text) != all.end();
}

}  // namespace

// Asserted by an independent calculator's tests (CapacityModel, in Swift): bytes per token of the
// context, and bytes of full windows.
TEST_CASE("logical bytes: twelve published pairs") {
  struct Pair {
    const char* id;
    Index per_token, fixed;
  };
  for (const auto& [id, per_token, fixed] :
       std::vector<Pair>{{"gemma-3-27b", 81'920, 436'207'616},
                         {"gpt-oss-20b", 24'576, 3'145'728},
                         {"trinity-nano", 14'336, 88'080'384},
                         {"gemma-3n-e2b", 8'192, 16'777'216},
                         {"baichuan-m1-14b", 40'960, 671'088'640},
                         {"mimo-v2-flash", 23'040, 25'559'040},
                         {"gemma-4-e2b", 6'144, 6'291'456},
                         {"gemma-4-e4b", 16'384, 20'971'520},
                         {"jamba-v0.1", 16'384, 0},
                         {"lfm2-1.2b", 12'288, 0},
                         {"lfm2-8b-a1b", 12'288, 0},
                         {"granite-4.0-h-micro", 8'192, 0}}) {
    CAPTURE(id);
    for (const Index context : {16'384, 131'072}) {
      CHECK(logical_bytes(model(id), {context, 1}) == per_token * context + fixed);
      CHECK(bytes("logical", model(id), context, 3) == 3 * (per_token * context + fixed));
    }
  }
}

TEST_CASE("logical bytes: figures from issues and cards") {
  // unslothai/unsloth#4757: 10.41 GiB.
  CHECK(bytes("logical", model("gemma-3-27b"), 131'072) == 11'173'625'856);
  // lablup/mlxcel#172: 128 MiB + 11 MiB, where every layer would take 832 MiB.
  CHECK(bytes("logical", model("gemma-3-1b"), 32'768) == 139 * kMiB);
  CHECK(bytes("full", model("gemma-3-1b"), 32'768) == 832 * kMiB);
  // 6.09375 GiB.
  CHECK(bytes("logical", model("gpt-oss-20b"), 8'192, 32) == 6'240 * kMiB);
  CHECK(bytes("logical", model("gpt-oss-20b"), 131'072) == 3'224'371'200);
}

TEST_CASE("chunks begin anew and a sequence peaks at the end of one") {
  const Model& scout = model("llama-4-scout");
  const Index row = 8 * 256 * 2;
  CHECK(bytes("logical", scout, 8'192) == row * (12 * 8'192 + 36 * 8'192));
  CHECK(bytes("logical", scout, 8'193) == row * (12 * 8'193 + 36));
  CHECK(bytes("ring", scout, 8'193) == row * (12 * 8'193 + 36 * 8'192));
  CHECK(peak_bytes(layout("logical"), scout, {8'193, 1}) == row * 48 * 8'192);
  CHECK(peak_bytes(layout("logical"), scout, {100'000, 1}) ==
        std::max(bytes("logical", scout, 100'000), bytes("logical", scout, 98'304)));
}

TEST_CASE("rings and pages of a window") {
  const Model one = stack(0, 1, 100);
  const Index row = 2 * 64 * 2;
  CHECK(bytes("ring", one, 99) == 99 * row);
  CHECK(bytes("ring", one, 5'000) == 100 * row);
  CHECK(bytes("ring:chunk=7", one, 5'000) == 106 * row);
  CHECK(bytes("ring:chunk=7", one, 103) == 103 * row);
  // Counted one token at a time.
  for (const Index page : {1, 2, 16, 64, 100, 128}) {
    for (const Index context : {1, 99, 100, 101, 107, 115, 116, 500}) {
      Index most = 0;
      for (Index t = 1; t <= context; ++t) {
        const Index first = std::max<Index>(0, t - 100);
        most = std::max(most, (t - 1) / page - first / page + 1);
      }
      CAPTURE(page);
      CAPTURE(context);
      CHECK(bytes("paged:block-size=" + std::to_string(page), one, context) == most * page * row);
    }
  }
}

// tests/v1/core/test_swa_inflight_window_free.py and test_prefix_caching.py of vLLM, and its bounds
// worked by hand for whole models.
TEST_CASE("vLLM: blocks that admit a request") {
  const auto blocks = [](const std::string& text, const Model& m, Index context) {
    const Index page = 16 * 2 * 64 * 2;
    const Index total = bytes(text, m, context);
    REQUIRE(total % page == 0);
    return total / page;
  };
  CHECK(blocks("vllm:max-num-batched-tokens=1024", stack(0, 1, 1'024), 16'384) == 129);
  CHECK(blocks("vllm:max-num-batched-tokens=2048", stack(0, 1, 1'024), 16'384) == 193);
  CHECK(blocks("vllm:max-num-batched-tokens=1Ki:max-concurrent-batches=2", stack(0, 1, 1'024),
               16'384) == 193);
  CHECK(blocks("vllm:max-num-batched-tokens=128", stack(1, 1, 64), 1'024) == 64 + 13);
  // W - 1 older tokens: 64 + 64 make 8 blocks and the one more.
  CHECK(blocks("vllm:max-num-batched-tokens=64", stack(0, 1, 65), 1'024) == 9);
  CHECK(bytes("vllm", model("starcoder2-3b"), 16'384) == 769 * 30 * 16 * 2 * 256 * 2);
  CHECK(bytes("vllm", model("gpt-oss-20b"), 131'072) == 3'426'091'008);
  CHECK(bytes("vllm", model("gemma-3-27b"), 131'072) == 15'275'130'880);
  const Allocation gemma = allocated("vllm", model("gemma-3-27b"), 131'072);
  CHECK(gemma.of(true, Share::padding) == Index{8} * 577 * 16 * 16 * 256 * 2);
  CHECK(gemma.of(true, Share::rows) == 436'207'616);
}

// test_can_fit_full_sequence_swa_cap_admits_long_prompt: 77 blocks and the null block hold 64 full
// and 13 sliding ones of one sequence.
TEST_CASE("vLLM: the pool has a null block") {
  const Model two = stack(1, 1, 64);
  const Index page = 16 * 2 * 64 * 2;
  const ChosenLayout vllm = layout("vllm:max-num-batched-tokens=128");
  CHECK(most_context(vllm, two, {1, 1}, 78 * page) == 1'024);
  CHECK(most_context(vllm, two, {1, 1}, 78 * page - 1) == 1'008);
}

TEST_CASE("vLLM: groups of layers as its tests have them") {
  // 2 full + 4 sliding: 3 groups of 2. 3 + 7: groups of 3, of which the sliding ones are padded.
  // 6 + 5: one group of each, of 6.
  CHECK(assumes(allocated("vllm", stack(2, 4, 64), 4'096), "3 groups of 2 layers"));
  CHECK(assumes(allocated("vllm", stack(3, 7, 64), 4'096), "4 groups of 3 layers"));
  CHECK(assumes(allocated("vllm", stack(6, 5, 64), 4'096), "2 groups of 6 layers"));
  // 1.5 times as many are not less than that.
  CHECK(assumes(allocated("vllm", stack(2, 3, 64), 4'096), "3 groups of 2 layers"));
  const Allocation padded = allocated("vllm:max-num-batched-tokens=16", stack(6, 5, 64), 4'096);
  CHECK(padded.of(true, Share::padding) == Index{6} * 16 * 2 * 64 * 2);
}

TEST_CASE("vLLM: pages of unequal layers") {
  // Twice the head: the smaller page has twice the tokens, so both rows fill their pages.
  const Model twice = stack(1, 1, 64, 64, 32);
  const Allocation even = allocated("vllm:max-num-batched-tokens=32", twice, 4'096);
  CHECK(even.of(true, Share::padding) == 0);
  CHECK(even.local() == (3 + 1) * 32 * 2 * 32 * 2);
  // 64 against 96 elements: the smaller page is padded, and 42 blocks lie where 64 did.
  const Model odd = stack(1, 1, 64, 64, 96);
  const Allocation padded = allocated("vllm", odd, 16 * 100);
  CHECK(padded.global() == 100 * 16 * 2 * 96 * 2);
  CHECK(padded.of(false, Share::padding) == 100 * 16 * 2 * 32 * 2);
  CHECK(Index{64} * 64 / 96 == 42);
}

TEST_CASE("vLLM: when the hybrid manager is off") {
  const Model& gemma = model("gemma-3-27b");
  CHECK(bytes("vllm:disable-hybrid-kv-cache-manager", gemma, 131'072) ==
        all_global_bytes(gemma, {131'072, 1}));
  // Chunked layers keep everything unless that is switched on.
  const Model& scout = model("llama-4-scout");
  CHECK(bytes("vllm", scout, 131'072) == all_global_bytes(scout, {131'072, 1}));
  CHECK(allocated("vllm:allow-chunked-local-attn", scout, 131'072).local() ==
        Index{36} * (8'192 + 8'192) * 8 * 256 * 2);
}

// unslothai/unsloth#5225, llama-server with gemma-3-270m and f16: slots and cells, MiB.
TEST_CASE("llama.cpp: six measured sizes") {
  struct Row {
    Index parallel, cells, mib;
  };
  const Model& gemma = model("gemma-3-270m");
  for (const auto& [parallel, cells, mib] : std::vector<Row>{{1, 4'096, 27},
                                                             {2, 4'096, 42},
                                                             {4, 4'096, 72},
                                                             {8, 4'096, 72},
                                                             {1, 8'192, 39},
                                                             {2, 8'192, 54}}) {
    CAPTURE(parallel);
    CAPTURE(cells);
    // So many sequences of their share each, and as many slots for one sequence.
    const Index share = cells / parallel;
    CHECK(bytes("llama.cpp", gemma, share, parallel) == mib * kMiB);
    CHECK(bytes("llama.cpp:parallel=" + std::to_string(parallel), gemma, share) == mib * kMiB);
  }
  CHECK(refusal("llama.cpp:parallel=2", gemma, {2'048, 3}) ==
        "llama.cpp:parallel=2 has fewer slots than there are sequences: 3");
  // One cache for two slots: PAD(2 x 512 + 512) cells.
  CHECK(bytes("llama.cpp:kv-unified:parallel=2", gemma, 4'096) ==
        12 * kMiB + Index{1'536} * 15'360);
  CHECK(allocated("llama.cpp", gemma, 4'097).global() == Index{4'352} * 3'072);
  CHECK(bytes("llama.cpp:swa-full", gemma, 4'096) == all_global_bytes(gemma, {4'096, 1}));
}

// ollama#16958, Gemma-4 26B-A4B: 0.40, 0.48, 0.99 and 3.00 GB.
TEST_CASE("llama.cpp: the four sizes of a report") {
  const Model& gemma = model("gemma-4-26b-a4b");
  const auto centi_gb = [&](Index context) {
    return (bytes("llama.cpp", gemma, context) + 5'000'000) / 10'000'000;
  };
  CHECK(centi_gb(4'096) == 40);
  CHECK(centi_gb(8'192) == 48);
  CHECK(centi_gb(32'768) == 99);
  CHECK(centi_gb(131'072) == 300);
}

TEST_CASE("llama.cpp: models whose window it does not have keep every token") {
  for (const char* id : {"phi-3-mini-4k", "mistral-7b-v0.1", "starcoder2-3b"}) {
    CAPTURE(id);
    CHECK(bytes("llama.cpp", model(id), 16'384) == all_global_bytes(model(id), {16'384, 1}));
    CHECK(assumes(allocated("llama.cpp", model(id), 16'384),
                  "llama.cpp keeps all tokens of this model's local layers"));
  }
}

TEST_CASE("SGLang: two pools for some architectures, and one for the others") {
  const Model& oss = model("gpt-oss-20b");
  const Allocation pools = allocated("sglang", oss, 100'000);
  CHECK(pools.global() == Index{100'000} * 24'576);
  CHECK(pools.local() == Index{80'000} * 24'576);
  CHECK(allocated("sglang:swa-full-tokens-ratio=0.5:page-size=64", oss, 100'000).local() ==
        Index{49'984} * 24'576);
  // As Python multiplies: 0.7 x 100,000 is 70,000 and not a little less.
  CHECK(allocated("sglang:swa-full-tokens-ratio=0.7", oss, 100'000).local() ==
        Index{70'000} * 24'576);
  CHECK(bytes("sglang:disable-hybrid-swa-memory", oss, 100'000) == Index{100'000} * 49'152);
  CHECK(bytes("sglang", model("gemma-3-27b"), 131'072) ==
        all_global_bytes(model("gemma-3-27b"), {131'072, 1}));
  // A request of 4096 tokens is given 4096 + 1 local slots, so the global pool has 5122.
  const Allocation small = allocated("sglang", oss, 4'096);
  CHECK(small.local() == Index{4'097} * 24'576);
  CHECK(small.global() == Index{5'122} * 24'576);
  CHECK(small.of(false, Share::idle) == Index{5'122 - 4'096} * 24'576);
}

TEST_CASE("TensorRT-LLM: blocks and shares") {
  const Model& oss = model("gpt-oss-20b");
  const Allocation blocks = allocated("trtllm", oss, 131'072);
  CHECK(blocks.global() == Index{131'072} * 24'576);
  CHECK(blocks.local() == Index{(128 + 8'192) / 64 + 1} * 64 * 24'576);
  CHECK(allocated("trtllm", oss, 100).local() == Index{128} * 24'576);
  // Equal shares: each pool is as large as the largest.
  const Allocation equal = allocated("trtllm:shares=equal", oss, 131'072);
  CHECK(equal.local() == equal.global());
  CHECK(equal.of(true, Share::idle) == equal.global() - blocks.local());
  // calculateWindowSizeToShare's test: windows of 1024, 4096 and 8192 in 1, 3 and 2 layers have
  // shares .0345, .4138 and .5517.
  Model three = stack(0, 6, 1'024);
  for (std::size_t i = 1; i < 6; ++i)
    three.layers[i].window = Window::causal(i < 4 ? 4'096 : 8'192);
  const Allocation shared = allocated("trtllm:shares=proportional:max-num-tokens=1", three, 65'536);
  const Index row = 2 * 64 * 2;
  const double largest = static_cast<double>((1'024 + 128) * row);  // the tightest of the three
  CHECK(static_cast<double>(shared.bytes()) == doctest::Approx(largest / .034483).epsilon(1e-4));
}

TEST_CASE("transformers keeps W - 1 tokens, and all of them where W is 1") {
  const Index row = 2 * 64 * 2;
  CHECK(bytes("hf", stack(0, 1, 100), 5'000) == 99 * row);
  CHECK(bytes("hf", stack(0, 1, 100), 99) == 99 * row);
  CHECK(bytes("hf", stack(0, 1, 1), 5'000) == 5'000 * row);
  CHECK(bytes("hf:cache=static", stack(0, 1, 100), 5'000) == 100 * row);
  CHECK(bytes("hf", stack(1, 0, 1), 5'000) == 5'000 * row);
}

TEST_CASE("mlx-lm grows in steps and holds a prefill step beside the window") {
  const Index row = 2 * 64 * 2;
  CHECK(bytes("mlx", stack(1, 0, 1), 5'000) == 5'120 * row);
  Model rotating = stack(0, 1, 1'000);
  rotating.architecture = "olmo3";
  CHECK(bytes("mlx", rotating, 5'000) == (1'000 + 2'048 - 1) * row);
  CHECK(bytes("mlx:prefill-step-size=1", rotating, 5'000) == 1'000 * row);
  CHECK(bytes("mlx:prefill-step-size=1", rotating, 300) == 512 * row);
  CHECK(bytes("mlx", model("gemma-2-9b"), 5'120) ==
        all_global_bytes(model("gemma-2-9b"), {5'120, 1}));
}

TEST_CASE("types of the cache and their scales") {
  Demand demand{1, 1};
  Layer layer = model("gemma-3-27b").layers.front();  // 16 heads of 128
  const auto row = [&](const char* k, const char* v) {
    demand.k = *parse_cache_type(k);
    demand.v = *parse_cache_type(v);
    return row_bytes(layer, demand);
  };
  CHECK(row("bf16", "bf16") == 8'192);
  CHECK(row("fp32", "fp8") == 8'192 + 2'048);
  CHECK(row("int8", "int8") == 2 * 16 * (128 + 2));
  CHECK(row("int4", "int4") == 2 * 16 * (64 + 2));
  // llama.cpp's blocks: 34 and 18 bytes for 32 elements.
  CHECK(row("q8_0", "q4_0") == 2'048 / 32 * (34 + 18));
  CHECK(row("q5_0", "q5_1") == 2'048 / 32 * (22 + 24));
  CHECK(row("q4_1", "iq4_nl") == 2'048 / 32 * (20 + 18));
  layer.head_dim_k = 80;
  CHECK_THROWS_AS(row("q8_0", "bf16"), UsageError);
  CHECK(refusal("vllm", stack(1, 0, 1), demand).empty() == false);
  demand.k = demand.v = *parse_cache_type("int8");
  CHECK(refusal("hf", stack(1, 0, 1), demand) == "layout hf has no cache of type int8");
  CHECK(refusal("logical", stack(1, 0, 1), demand) == "");
  CHECK(allocate(layout("trtllm"), stack(1, 0, 1), demand).bytes() == 64 * 2 * 64);
  demand.k = *parse_cache_type("fp8");
  demand.v = *parse_cache_type("bf16");
  CHECK(refusal("vllm", stack(1, 0, 1), demand) == "layout vllm has one type for K and V");
}

TEST_CASE("ranks split heads, replicate few of them and keep latent rows") {
  const auto per_rank = [](const Model& m, Index ranks) {
    Demand demand{1'000, 1};
    demand.tensor_parallel = ranks;
    return logical_bytes(m, demand);
  };
  const Model& gemma = model("gemma-3-27b");  // 16 heads
  CHECK(per_rank(gemma, 4) == per_rank(gemma, 1) / 4);
  CHECK(per_rank(gemma, 32) == per_rank(gemma, 16));
  CHECK_THROWS_AS(per_rank(gemma, 3), UsageError);
  CHECK_THROWS_AS(per_rank(gemma, 24), UsageError);
  CHECK(per_rank(model("kimi-k3"), 8) == 1'000 * 24 * 576 * 2);
  Demand stages{1'000, 1};
  stages.pipeline_parallel = 4;  // 16, 16, 15 and 15 layers of 62; 2 to 3 of them global
  const Index row = 16 * 256 * 2;
  CHECK(logical_bytes(gemma, stages) == row * 1'000 * 16);
  stages.context = 131'072;
  CHECK(logical_bytes(gemma, stages) == row * (3 * 131'072 + 13 * 1'024));
  stages.pipeline_parallel = 63;
  CHECK_THROWS_AS(logical_bytes(gemma, stages), UsageError);
  stages.pipeline_parallel = 2;
  CHECK_THROWS_AS(logical_bytes(model("gemma-3n-e2b"), stages), UsageError);
}

TEST_CASE("a step reads what the layers see, also in another layer's cache") {
  const Model& gemma = model("gemma-3n-e2b");  // 4 + 16 own, 2 + 8 shared
  CHECK(bytes_read_per_step(gemma, {10'000, 1}) == Index{1'024 * 2} * (6 * 10'000 + 24 * 512));
  CHECK(bytes_read_per_step(model("gpt-oss-20b"), {131'072, 2}) == 2 * Index{3'224'371'200});
}

TEST_CASE("compressed rows beside the window") {
  // 2 layers of the window alone, 21 of a row for 4 tokens, 20 of a row for 128.
  CHECK(logical_bytes(model("deepseek-v4-flash"), {1'000, 1}) ==
        Index{512 * 2} * (43 * 128 + 21 * 250 + 20 * 7));
  CHECK(refusal("vllm", model("deepseek-v4-flash"), {1'000, 1}) ==
        "how vLLM lays out the compressed rows of deepseek-v4-flash is not known here");
}

TEST_CASE("what is not known of an engine is refused") {
  CHECK(refusal("sglang", model("gemma-3n-e2b"), {1'000, 1}).starts_with("whether SGLang sets"));
  CHECK(refusal("trtllm", model("gemma-4-e4b"), {1'000, 1}).starts_with("whether TensorRT-LLM"));
  CHECK(refusal("mlx", model("llama-4-scout"), {1'000, 1}).starts_with("what mlx-lm keeps"));
  CHECK(refusal("vllm", model("modernbert-base"), {1'000, 1}) ==
        "modernbert-base is an encoder: vllm keeps no cache of it");
  CHECK(refusal("full", model("modernbert-base"), {1'000, 1}) == "");
  CHECK(refusal("vllm", model("jamba-v0.1"), {1'000, 1}).starts_with("how vLLM shares its blocks"));
  CHECK(refusal("vllm", model("falcon-h1-34b"), {1'000, 1}).starts_with("how vLLM shares"));
}

TEST_CASE("answers lie between what fits and what does not") {
  const Index ten = Index{10} << 30;
  for (const char* text : {"logical", "ring", "paged", "vllm", "sglang", "trtllm", "llama.cpp",
                           "hf", "mlx:prefill-step-size=7"}) {
    for (const char* id : {"gemma-3-27b", "gpt-oss-20b", "gemma-2-9b"}) {
      CAPTURE(text);
      CAPTURE(id);
      const ChosenLayout chosen = layout(text);
      const Model& m = model(id);
      const Index context = most_context(chosen, m, {1, 3}, ten);
      CHECK(peak_bytes(chosen, m, {context, 3}) <= ten);
      CHECK(peak_bytes(chosen, m, {context + 1, 3}) > ten);
      const Index batch = most_sequences(chosen, m, {5'000, 1}, ten);
      CHECK(peak_bytes(chosen, m, {5'000, batch}) <= ten);
      CHECK(peak_bytes(chosen, m, {5'000, batch + 1}) > ten);
    }
  }
  const ChosenLayout logical = layout("logical");
  CHECK(most_context(logical, model("mistral-7b-v0.1"), {1, 1}, ten) == kUnbounded);
  CHECK(most_context(logical, model("mistral-7b-v0.1"), {1, 1}, 131'072) == 1);
  CHECK(most_context(logical, model("mistral-7b-v0.1"), {1, 1}, 131'071) == 0);
  const Model& scout = model("llama-4-scout");
  const Index most = most_context(logical, scout, {1, 1}, Index{1} << 30);
  for (Index t = 1; t <= most; t += t < most - 9'000 ? 97 : 1) {
    REQUIRE(bytes("logical", scout, t) <= Index{1} << 30);
  }
  CHECK(peak_bytes(logical, scout, {most + 1, 1}) > Index{1} << 30);
}

TEST_CASE("vLLM: pipeline stages take their layers of each group of the model") {
  Demand demand{131'072, 1};
  demand.pipeline_parallel = 4;
  // 15, 16, 16 and 15 layers; a stage has up to 3 of the 10 layers of each of 7 groups.
  CHECK(allocate(layout("vllm"), model("gemma-3-27b"), demand).bytes() ==
        Index{8'192 + 6 * 2'113} * 3 * 131'072);
  demand.pipeline_parallel = 1;
  CHECK(allocate(layout("vllm"), model("gemma-3-27b"), demand).bytes() == 15'275'130'880);
}

TEST_CASE("TensorRT-LLM: windows that the context does not exceed are one with the global layers") {
  const Model& olmo = model("olmo-3-7b");
  CHECK(bytes("trtllm", olmo, 4'096) == all_global_bytes(olmo, {4'096, 1}));
  CHECK(allocated("trtllm", olmo, 4'160).of(true, Share::idle) == 0);
  CHECK(allocated("trtllm", olmo, 4'160).of(false, Share::idle) > 0);
  const Model& scout = model("llama-4-scout");
  CHECK(bytes("trtllm:shares=equal", scout, 32'768) == all_global_bytes(scout, {32'768, 1}));
}

TEST_CASE("a default that is given explicitly changes no byte") {
  std::size_t numbers = 0;
  for (const KvLayout& one : layouts()) {
    for (const Setting& setting : one.settings) {
      if (setting.usual.find_first_not_of("0123456789.") != std::string_view::npos) continue;
      ++numbers;
      const std::string name(one.name), text = name + ":" + std::string(setting.name) + "=";
      CAPTURE(text);
      for (const Index context : {300, 9'000, 100'000}) {
        CHECK(bytes(text + std::string(setting.usual), model("gpt-oss-20b"), context, 3) ==
              bytes(name, model("gpt-oss-20b"), context, 3));
      }
    }
  }
  CHECK(numbers >= 11);
}

TEST_CASE("the widest window is that of trying them all") {
  for (const char* text :
       {"logical", "ring:chunk=3", "paged:block-size=4", "hf",
        "vllm:max-num-batched-tokens=5:block-size=2", "trtllm:tokens-per-block=4",
        "trtllm:tokens-per-block=4:max-num-tokens=3:shares=equal", "mlx:prefill-step-size=5"}) {
    const ChosenLayout chosen = layout(text);
    Model m = stack(2, 3, 8);
    m.architecture = "gemma3";  // mlx-lm has a rotating cache for it
    const Demand demand{40, 1};
    for (Index budget = 20'000; budget < 120'000; budget += 1'111) {
      Index most = 0;
      for (Index W = 1; W <= 600; ++W) {
        if (fits(chosen, with_window(m, W), demand, budget)) most = W;
      }
      CAPTURE(text);
      CAPTURE(budget);
      CHECK(widest_window(chosen, m, demand, budget) == (most == 600 ? kUnbounded : most));
    }
  }
}

// Exercise 5 of the chapter: the Gemma 2 27B shape with W = 1024 at 131,072 tokens under 10 GiB.
TEST_CASE("the most global layers and the widest window under a budget") {
  const Model& shape = model("gemma2-27b-5to1");
  const ChosenLayout logical = layout("logical");
  const Demand demand{131'072, 1};
  const Index ten = Index{10} << 30;
  CHECK(most_global_layers(logical, shape, demand, ten) == 9);
  CHECK(logical_bytes(with_global_layers(shape, 9), demand) == 9'974'054'912);
  CHECK(logical_bytes(with_global_layers(shape, 10), demand) == 11'039'408'128);
  CHECK(most_global_layers(logical, shape, demand, 1'000) == -1);
  CHECK(most_global_layers(logical, shape, demand, Index{1} << 40) == 46);
  const Index W = widest_window(logical, shape, demand, ten);
  CHECK(logical_bytes(with_window(shape, W), demand) <= ten);
  CHECK(logical_bytes(with_window(shape, W + 1), demand) > ten);
  CHECK(widest_window(logical, shape, demand, Index{1} << 40) == kUnbounded);
  CHECK(widest_window(logical, shape, demand, 1'000) == 0);
  CHECK_THROWS_AS(with_window(model("qwen3-8b"), 5), UsageError);
  CHECK_THROWS_AS(with_global_layers(model("llama-4-scout"), 5), UsageError);
  CHECK_THROWS_AS(with_global_layers(model("gemma-3n-e2b"), 5), UsageError);
}

TEST_CASE("bytes past 2^63 are refused and not wrapped") {
  for (const KvLayout& one : layouts()) {
    CAPTURE(std::string(one.name));
    const ChosenLayout chosen{&one, {}, std::string(one.name)};
    CHECK_THROWS_AS(allocate(chosen, model("gemma-2-27b"), {kMaxIndex, 1}), TooManyBytes);
    CHECK_THROWS_AS(allocate(chosen, model("gemma-2-27b"), {4'096, kMaxIndex}), TooManyBytes);
    CHECK_THROWS_AS(allocate(chosen, model("gemma-2-27b"), {kMaxIndex, kMaxIndex}), TooManyBytes);
  }
}
