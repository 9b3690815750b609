#include "model/config/architectures.hpp"

#include <array>

#include "model/config/rules.hpp"

namespace swa {
namespace {

constexpr std::string_view kPhi3 =
    "with sliding_window = W a query sees W keys in today's transformers, as it is counted here; "
    "the original call of FlashAttention let it see W + 1, and llama.cpp ignores the window";
constexpr std::string_view kModernBert =
    "local_attention counts both sides: W / 2 keys to the left and W / 2 to the right; one reader "
    "reaches one key less to each side";
constexpr std::string_view kBothStacks =
    "an encoder-decoder: its cache for cross-attention is not counted";

// The rows of a family stand together.
// clang-format off
constexpr std::array kKnown = {
    // Every layer has the window.
    Architecture{.names = "mistral", .rule = window_everywhere, .reads_switch = false,
                 .window = 4096, .heads = 32, .kv_heads = 8, .max_positions = 131'072,
                 .theta_local = 10'000, .theta_global = 10'000},
    Architecture{.names = "ministral", .rule = window_everywhere, .reads_switch = false},
    Architecture{.names = "starcoder2", .rule = window_everywhere, .reads_switch = false,
                 .window = 0},
    Architecture{.names = "phi3", .rule = window_everywhere, .reads_switch = false,
                 .window = 0, .max_positions = 4096, .note = kPhi3},
    Architecture{.names = "moshi", .rule = window_everywhere, .reads_switch = false,
                 .window = 3000},
    Architecture{.names = "kyutai_speech_to_text", .rule = window_everywhere,
                 .reads_switch = false, .window = 375},
    Architecture{.names = "mimi", .rule = window_everywhere, .reads_switch = false, .window = 250},
    Architecture{.names = "longformer", .rule = longformer, .window_key = "attention_window",
                 .window = 512, .encoder = true},
    // No layer has one.
    Architecture{.names = "llama", .rule = window_nowhere},
    Architecture{.names = "gemma", .rule = window_nowhere},
    Architecture{.names = "mixtral", .rule = mixtral},
    Architecture{.names = "apertus", .rule = window_nowhere},
    Architecture{.names = "falcon_h1", .rule = window_nowhere},
    Architecture{.names = "deepseek_v2 deepseek_v3", .rule = window_nowhere},
    Architecture{.names = "minimax_m2 minimax_m3", .rule = window_nowhere},
    // A switch, or a first layer with the window.
    Architecture{.names = "qwen2 qwen3", .rule = qwen, .period = 28, .window = 4096,
                 .has_switch = true},
    Architecture{.names = "qwen2_moe", .rule = qwen2_moe, .period = 28, .window = 4096,
                 .has_switch = true},
    Architecture{.names = "qwen3_moe", .rule = qwen3_moe, .has_switch = true},
    Architecture{.names = "dots1", .rule = from_max_window_layers, .period = 62, .window = 4096},
    Architecture{.names = "smollm3", .rule = smollm3, .period = 4, .window = 0, .has_switch = true},
    // The last of each p layers sees all.
    Architecture{.names = "gemma2", .rule = last_of_each, .period = 2, .window = 4096, .heads = 8,
                 .kv_heads = 4, .head_dim = 256, .max_positions = 8192, .softcap_attention = 50,
                 .softcap_final = 30},
    Architecture{.names = "vaultgemma", .rule = last_of_each, .period = 2, .window = 4096,
                 .max_positions = 8192},
    Architecture{.names = "t5gemma", .rule = last_of_each, .period = 2, .window = 4096,
                 .max_positions = 8192, .note = kBothStacks},
    Architecture{.names = "gpt_oss", .rule = last_of_each, .period = 2, .window = 128, .heads = 64,
                 .kv_heads = 8, .head_dim = 64, .max_positions = 131'072, .theta_local = 150'000,
                 .theta_global = 150'000, .sinks = "a learned logit per head"},
    Architecture{.names = "gemma3 gemma3_text", .rule = last_of_each, .period = 6, .window = 4096,
                 .heads = 8, .kv_heads = 4, .head_dim = 256, .max_positions = 131'072,
                 .both_ways = BothWays::flag, .theta_local = 10'000, .theta_global = 1'000'000},
    Architecture{.names = "gemma3n gemma3n_text", .rule = last_of_each, .period = 5, .window = 512,
                 .heads = 8, .kv_heads = 2, .head_dim = 256, .max_positions = 32'768,
                 .shares = true, .shared_layers = 15, .theta_local = 10'000,
                 .theta_global = 1'000'000, .softcap_final = 30},
    Architecture{.names = "gemma4 gemma4_text", .rule = gemma4, .period = 6, .window = 512,
                 .heads = 8, .kv_heads = 4, .head_dim = 256, .max_positions = 131'072,
                 .head_keys = HeadKeys::of_full_layers, .shares = true, .last_sees_all = true,
                 .both_ways = BothWays::words, .theta_local = 10'000, .theta_global = 1'000'000},
    Architecture{.names = "cohere2", .rule = last_of_each, .period = 4, .window = 4096,
                 .max_positions = 8192, .nope_global = true},
    Architecture{.names = "olmo3", .rule = last_of_each, .period = 4, .window = 4096,
                 .theta_local = 500'000, .theta_global = 500'000},
    Architecture{.names = "exaone4 exaone4_5", .rule = last_of_each, .period = 4, .window = 4096,
                 .nope_global = true},
    Architecture{.names = "exaone_moe", .rule = exaone_moe},
    Architecture{.names = "plamo3", .rule = last_of_each, .period = 8},
    Architecture{.names = "afmoe", .rule = afmoe, .period = 4, .window = 1024, .head_dim = 128,
                 .max_positions = 16'384, .nope_global = true},
    Architecture{.names = "llama4 llama4_text", .rule = llama4, .period = 4,
                 .window_key = "attention_chunk_size", .window = 8192, .heads = 40, .kv_heads = 8,
                 .head_dim = 128, .max_positions = 131'072, .theta_local = 500'000,
                 .nope_global = true},
    // The first of each p layers sees all.
    Architecture{.names = "cwm", .rule = first_of_each, .period = 4, .window = 8192, .heads = 48,
                 .kv_heads = 8, .head_dim = 128, .max_positions = 131'072, .theta_local = 1'000'000,
                 .theta_global = 1'000'000},
    Architecture{.names = "step3p5 step3p7", .rule = first_of_each, .period = 4,
                 .head_keys = HeadKeys::other_setting},
    Architecture{.names = "smallthinker", .rule = smallthinker, .period = 4,
                 .window_key = "sliding_window_size"},
    Architecture{.names = "modernbert", .rule = modernbert, .period = 3,
                 .window_key = "local_attention", .window = 128, .heads = 12, .max_positions = 8192,
                 .encoder = true, .theta_local = 10'000, .theta_global = 160'000,
                 .note = kModernBert},
    // Counted from the last layer.
    Architecture{.names = "muse_glimmer muse_glimmer_text", .rule = counted_from_the_end,
                 .period = 4, .nope_global = true},
    // A list of layers.
    Architecture{.names = "laguna", .rule = laguna, .period = 4, .window = 512,
                 .head_dim = 128},
    Architecture{.names = "mimo_v2 mimo_v2_flash", .rule = mimo, .head_keys = HeadKeys::swa_first},
    Architecture{.names = "inkling inkling_mm_model inkling2", .rule = inkling,
                 .window_key = "sliding_window_size", .head_keys = HeadKeys::swa_first,
                 .own_types = true},
    Architecture{.names = "baichuan_m1", .rule = baichuan_m1, .head_keys = HeadKeys::swa_inside},
    Architecture{.names = "hymba", .rule = hymba, .reuses_groups = true},
    Architecture{.names = "gpt_neo", .rule = gpt_neo, .window_key = "window_size", .window = 256},
    // Layers without a cache.
    Architecture{.names = "recurrent_gemma", .rule = recurrent_gemma,
                 .window_key = "attention_window_size", .window = 2048, .kv_heads = 1},
    Architecture{.names = "plamo2", .rule = plamo2, .window_key = "attention_window_size"},
    Architecture{.names = "qwen3_next qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text",
                 .rule = full_attention_interval, .period = 4},
    Architecture{.names = "jamba", .rule = jamba},
    Architecture{.names = "nemotron_h", .rule = nemotron_h},
    Architecture{.names = "kimi_linear", .rule = kimi_linear},
    Architecture{.names = "lfm2 lfm2_moe", .rule = lfm2},
    Architecture{.names = "granitemoehybrid", .rule = layer_types_only},
    Architecture{.names = "minimax", .rule = minimax},
    // A window, and compressed rows of what lies before it.
    Architecture{.names = "deepseek_v4", .rule = deepseek_v4, .window = 128, .heads = 64,
                 .kv_heads = 1, .head_dim = 512, .max_positions = 1'048'576,
                 .head_keys = HeadKeys::one_row, .own_types = true, .theta_local = 10'000,
                 .theta_global = 160'000},
};
// clang-format on

constexpr Architecture kUnknown{.names = "", .rule = only_what_is_plain};

bool names_it(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::size_t end = names.find(' ');
    if (names.substr(0, end) == name) return true;
    names = end == std::string_view::npos ? std::string_view{} : names.substr(end + 1);
  }
  return false;
}

}  // namespace

const Architecture* find_architecture(std::string_view model_type) {
  for (const Architecture& known : kKnown) {
    if (names_it(known.names, model_type)) return &known;
  }
  return nullptr;
}

const Architecture& unknown_architecture() {
  return kUnknown;
}

}  // namespace swa
