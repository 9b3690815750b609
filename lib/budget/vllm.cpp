// vLLM's V1 engine: layers of one kind form groups of one size, and all groups draw blocks of one
// size from one pool, of which one block, the null block, is never given away. What is computed is
// the bound by which a request is admitted.
#include <fmt/format.h>

#include <algorithm>

#include "budget/engines.hpp"
#include "error.hpp"

namespace swa::engines {
namespace {

// Layers that need the same blocks.
struct Bucket {
  Layer layer;
  Index layers = 0;
  Index row_bytes = 0;
  Index block = 0;  // tokens
  bool windowed = false;

  Index page() const { return times(block, row_bytes); }
};

struct Rules {
  Index block, in_flight, retained;
  bool hybrid, chunked;
};

Rules read_rules(const Demand& demand, const Settings& settings) {
  const Index batches = settings.count("max-concurrent-batches", demand.pipeline_parallel);
  return {settings.count("block-size", 16),
          times(batches, settings.count("max-num-batched-tokens", 8192)),
          settings.count("speculative-tokens", 0),
          !settings.flag("disable-hybrid-kv-cache-manager"),
          settings.flag("allow-chunked-local-attn")};
}

std::vector<Bucket> buckets_of(const Stage& stage, const Demand& demand, const Rules& rules) {
  std::vector<Bucket> buckets;
  for (const auto& [layer, count] : stage.layers) {
    if (layer.keeps != Keeps::own) continue;
    const bool is_chunked = layer.window.kind == Window::Kind::chunked;
    const bool windowed = rules.hybrid && layer.is_local() && (!is_chunked || rules.chunked);
    buckets.push_back({layer, count, row_bytes(layer, demand), rules.block, windowed});
  }
  return buckets;
}

// Tokens that a request may hold in a layer of the bucket.
Index most_tokens(const Bucket& bucket, const Demand& demand, const Rules& rules) {
  if (!bucket.windowed) return demand.context;
  const Window& window = bucket.layer.window;
  const bool is_chunked = window.kind == Window::Kind::chunked;
  const Index own = is_chunked ? window.width : window.width - 1 + rules.retained;
  return smaller(demand.context, plus(own, rules.in_flight));
}

// One block more where the window may begin within a block.
Index most_blocks(const Bucket& bucket, const Demand& demand, const Rules& rules) {
  const Index blocks = ceil_div(most_tokens(bucket, demand, rules), bucket.block);
  const bool straddles = bucket.windowed && bucket.layer.window.kind != Window::Kind::chunked;
  return blocks + (straddles ? 1 : 0);
}

// Smaller pages get more tokens where that makes them as large as the largest; otherwise they are
// padded to its size.
Index unify_pages(std::vector<Bucket>& buckets) {
  Index largest = 0;
  for (const Bucket& bucket : buckets) largest = larger(largest, bucket.page());
  for (Bucket& bucket : buckets) {
    if (largest % bucket.page() == 0) bucket.block *= largest / bucket.page();
  }
  return largest;
}

Index layers_of_a_group(const std::vector<Bucket>& buckets) {
  Index least = buckets.front().layers, most = least;
  for (const Bucket& bucket : buckets) {
    least = smaller(least, bucket.layers);
    most = larger(most, bucket.layers);
  }
  return 2 * most < 3 * least ? most : least;
}

void add(Allocation& result, const Bucket& bucket, const Demand& demand, const Rules& rules,
         Index page, Index layers_with_padding) {
  const bool local = bucket.layer.is_local();
  const Index blocks = times(most_blocks(bucket, demand, rules), demand.batch);
  const auto rows = [&](Index tokens) { return times(times(tokens, demand.batch), bucket.layers); };
  result.add_rows(bucket.layer, bucket.row_bytes, rows(tokens_held(bucket.layer, demand.context)),
                  rows(most_tokens(bucket, demand, rules)),
                  times(times(blocks, bucket.block), bucket.layers));
  const Index pages = times(blocks, layers_with_padding);
  result.add(local, Share::padding,
             times(pages, page) - times(times(blocks, bucket.layers), bucket.page()));
}

Allocation allocate_vllm(const Stage& stage, const Demand& demand, const Settings& settings) {
  refuse_compressed(stage, "vLLM");
  const Rules rules = read_rules(demand, settings);
  std::vector<Bucket> buckets = buckets_of(stage, demand, rules);
  Allocation result;
  result.assumptions.push_back(fmt::format(
      "the bound by which vLLM admits a request, {} tokens in flight", rules.in_flight));
  const bool chunks_are_full =
      std::any_of(buckets.begin(), buckets.end(), [](const Bucket& bucket) {
        return !bucket.windowed && bucket.layer.window.kind == Window::Kind::chunked;
      });
  if (rules.hybrid && chunks_are_full) {
    result.assumptions.push_back(
        "vLLM keeps all tokens of chunked layers unless "
        "allow-chunked-local-attn is set");
  }
  if (buckets.empty()) return result;
  const auto same_need = [&](const Bucket& bucket) {
    return bucket.windowed == buckets.front().windowed &&
           (!bucket.windowed || bucket.layer.window == buckets.front().layer.window);
  };
  // Layers that need blocks for the same tokens form one group with pages of their own sizes.
  if (std::all_of(buckets.begin(), buckets.end(), same_need)) {
    for (const Bucket& bucket : buckets) {
      add(result, bucket, demand, rules, bucket.page(), bucket.layers);
      result.reserved = plus(result.reserved, times(bucket.page(), bucket.layers));
    }
    return result;
  }
  const Index page = unify_pages(buckets);
  const Index size = layers_of_a_group(buckets);
  Index groups = 0;
  for (const Bucket& bucket : buckets) {
    const Index own = ceil_div(bucket.layers, size);
    add(result, bucket, demand, rules, page, times(own, size));
    groups += own;
  }
  result.reserved = times(page, size);
  result.assumptions.push_back(fmt::format("{} groups of {} layers", groups, size));
  return result;
}

}  // namespace

KvLayout vllm() {
  using Kind = Setting::Kind;
  return {
      "vllm",
      "vLLM (V1): groups of layers share blocks of one pool",
      "vLLM main of 2026-08-17, as neuralmagic/vllm carries it (017e9f4448)",
      {{"block-size", Kind::positive, "16", "tokens of a block"},
       {"max-num-batched-tokens", Kind::positive, "8192", "tokens of one step"},
       {"max-concurrent-batches", Kind::positive, "pipeline stages",
        "steps in flight; 2 with asynchronous scheduling"},
       {"speculative-tokens", Kind::count, "0",
        "tokens beyond the window that drafting with several MTP layers retains"},
       {"allow-chunked-local-attn", Kind::flag, "off",
        "chunked layers free their blocks (VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE)"},
       {"disable-hybrid-kv-cache-manager", Kind::flag, "off", "all layers keep all tokens"}},
      {"fp32", "bf16", "fp16", "fp8_e4m3", "fp8_e5m2"},
      allocate_vllm};
}

}  // namespace swa::engines
