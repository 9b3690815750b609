// vLLM's V1 engine: layers of one kind form groups of one size, and all groups draw blocks of one
// size from one pool, of which one block, the null block, is never given away. What is computed is
// the bound by which a request is admitted.
#include <fmt/format.h>

#include <algorithm>

#include "budget/engines.hpp"

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
          settings.count("extra-retained-tokens", 0),
          !settings.flag("disable-hybrid-kv-cache-manager"),
          settings.flag("allow-chunked-local-attn")};
}

bool is_chunked(const Layer& layer) {
  return layer.window.kind == Window::Kind::chunked;
}

// Of the whole model: pipeline stages take their layers of each group.
std::vector<Bucket> buckets_of(const Model& model, const Demand& demand, const Rules& rules) {
  std::vector<Bucket> buckets;
  const Stage whole = stages(model, 1).front();
  for (const auto& [layer, count] : whole.layers) {
    if (layer.keeps != Keeps::own) continue;
    const bool windowed = rules.hybrid && layer.is_local() && (!is_chunked(layer) || rules.chunked);
    buckets.push_back({layer, count, row_bytes(layer, demand), rules.block, windowed});
  }
  return buckets;
}

// Tokens that a request may hold in a layer of the bucket.
Index most_tokens(const Bucket& bucket, const Demand& demand, const Rules& rules) {
  if (!bucket.windowed) return demand.context;
  const Index width = bucket.layer.window.width;
  const Index own = is_chunked(bucket.layer) ? width : width - 1 + rules.retained;
  return smaller(demand.context, plus(own, rules.in_flight));
}

// One block more where the window may begin within a block.
Index most_blocks(const Bucket& bucket, const Demand& demand, const Rules& rules) {
  const Index blocks = ceil_div(most_tokens(bucket, demand, rules), bucket.block);
  const bool straddles = bucket.windowed && !is_chunked(bucket.layer);
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

// Layers of the bucket in a stage, and in that of its groups which has most of them there: the j-th
// layer of a bucket belongs to group j mod the number of groups.
struct InStage {
  Index layers = 0, of_a_group = 0;
};

InStage share_of(const Stage& stage, const Layer& layer, Index groups) {
  std::vector<Index> of_group(static_cast<std::size_t>(groups));
  InStage share;
  Index j = 0;
  for (Index i = 0; i < stage.end; ++i) {
    if (!(stage.model.layers[static_cast<std::size_t>(i)] == layer)) continue;
    if (i >= stage.begin) {
      Index& count = of_group[static_cast<std::size_t>(j % groups)];
      share.of_a_group = larger(share.of_a_group, ++count);
      ++share.layers;
    }
    ++j;
  }
  return share;
}

// `pages` of the bucket's layers, of which `layers` exist, for each block.
void add(Allocation& result, const Bucket& bucket, const Demand& demand, const Rules& rules,
         Index page, Index layers, Index pages) {
  const Index blocks = times(most_blocks(bucket, demand, rules), demand.batch);
  const auto rows = [&](Index tokens) { return times(times(tokens, demand.batch), layers); };
  result.add_rows(bucket.layer, bucket.row_bytes, rows(tokens_held(bucket.layer, demand.context)),
                  rows(most_tokens(bucket, demand, rules)),
                  times(times(blocks, bucket.block), layers));
  result.add(bucket.layer.is_local(), Share::padding,
             times(times(blocks, pages), page) - times(times(blocks, layers), bucket.page()));
}

// Layers that need blocks for the same tokens form one group, with pages of their own sizes.
bool one_group(const std::vector<Bucket>& buckets) {
  const Bucket& first = buckets.front();
  return std::all_of(buckets.begin(), buckets.end(), [&](const Bucket& bucket) {
    return bucket.windowed == first.windowed &&
           (!bucket.windowed || bucket.layer.window == first.layer.window);
  });
}

void add_one_group(Allocation& result, const Stage& stage, const std::vector<Bucket>& buckets,
                   const Demand& demand, const Rules& rules) {
  for (const Bucket& bucket : buckets) {
    const Index layers = share_of(stage, bucket.layer, 1).layers;
    add(result, bucket, demand, rules, bucket.page(), layers, layers);
    result.bytes_per_block = plus(result.bytes_per_block, times(bucket.page(), layers));
  }
  result.blocks_per_request = most_blocks(buckets.front(), demand, rules);
}

void add_groups(Allocation& result, const Stage& stage, std::vector<Bucket> buckets,
                const Demand& demand, const Rules& rules) {
  const Index page = unify_pages(buckets);
  const Index size = layers_of_a_group(buckets);
  Index groups = 0, pages = 0;
  for (const Bucket& bucket : buckets) {
    const Index own = ceil_div(bucket.layers, size);
    pages = larger(pages, share_of(stage, bucket.layer, own).of_a_group);
    groups += own;
  }
  for (const Bucket& bucket : buckets) {
    const Index own = ceil_div(bucket.layers, size);
    add(result, bucket, demand, rules, page, share_of(stage, bucket.layer, own).layers,
        times(own, pages));
    result.blocks_per_request =
        plus(result.blocks_per_request, times(own, most_blocks(bucket, demand, rules)));
  }
  result.bytes_per_block = times(page, pages);
  result.assumptions.push_back(fmt::format("{} groups of {} layers", groups, size));
}

Allocation allocate_vllm(const Stage& stage, const Demand& demand, const Settings& settings) {
  refuse_compressed(stage, "vLLM");
  refuse_states(stage, "vLLM");
  const Rules rules = read_rules(demand, settings);
  const std::vector<Bucket> buckets = buckets_of(stage.model, demand, rules);
  Allocation result;
  result.assumptions.push_back(fmt::format(
      "the bound by which vLLM admits a request, with {} tokens in flight", rules.in_flight));
  const bool chunks_are_full = std::any_of(buckets.begin(), buckets.end(), [](const Bucket& b) {
    return !b.windowed && is_chunked(b.layer);
  });
  if (rules.hybrid && chunks_are_full) {
    result.assumptions.push_back(
        "vLLM keeps all tokens of chunked layers unless allow-chunked-local-attn is set");
  }
  if (buckets.empty()) return result;
  if (one_group(buckets)) {
    add_one_group(result, stage, buckets, demand, rules);
  } else {
    add_groups(result, stage, buckets, demand, rules);
  }
  result.reserved = result.bytes_per_block;  // the null block
  return result;
}

}  // namespace

KvLayout vllm() {
  using Kind = Setting::Kind;
  return {
      .name = "vllm",
      .summary = "vLLM (V1): groups of layers share blocks of one pool",
      .source = "vLLM main of 2026-08-17, as neuralmagic/vllm carries it (017e9f4448)",
      .settings =
          {{"block-size", Kind::positive, "16", "tokens of a block"},
           {"max-num-batched-tokens", Kind::positive, "8192", "tokens of one step"},
           {"max-concurrent-batches", Kind::positive, "pipeline stages",
            "steps in flight; with asynchronous scheduling 2, or stages + 1"},
           {"extra-retained-tokens", Kind::count, "0",
            "speculative tokens that drafting with several MTP layers retains beside the window"},
           {"allow-chunked-local-attn", Kind::flag, "off",
            "chunked layers free blocks (VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE)"},
           {"disable-hybrid-kv-cache-manager", Kind::flag, "off", "all layers keep all tokens"}},
      .types = {"fp32", "bf16", "fp16", "fp8_e4m3", "fp8_e5m2"},
      .one_type = true,
      .allocate = allocate_vllm};
}

}  // namespace swa::engines
