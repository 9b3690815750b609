#include "mask/conventions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "error.hpp"

namespace swa {
namespace {

// What the numbers of a system count.
enum class Form : std::uint8_t {
  sides,        // L, R: keys before and after the query; -1 for no bound
  keys_before,  // L: keys before the query; -1 for no bound
  keys,         // W: keys that a query sees, itself included
  bounds,       // B or B,R: keys up to the query, itself included, and after it; R is 0 if left out
  diameter,     // A: A / 2 keys to either side, so A even stands for A + 1 keys
  centred,      // W keys around the query: W / 2 before it and the rest after it
  chunk,        // C: tokens of a chunk
};

// Where row 0 sits when n_q != n_k.
enum class Rows : std::uint8_t {
  bottom_right,  // always
  top_left,      // always
  by_position,   // queries carry their position; a call on a cache is bottom-right
  argument,      // an argument says it, top-left where it is left out
};

struct Convention {
  std::string_view word;
  std::string_view system;
  Form form;
  Rows rows;
  // Whether the system has a causal flag besides its numbers, which --no-causal then clears.
  bool causal_flag;
  bool decode_only;           // one query
  bool needs_two_bounds;      // no side may be open
  std::string_view no_bound;  // how it spells a side without bound
  // fmt pattern: {0} and {1} are the numbers, {causal} and {anchor} the system's words for them.
  std::string_view call;
};

// Sources, at the snapshots that docs/conventions.md names: FlashAttention's README and
// hopper/mask.h; FlashInfer attention/variants.cuh; cudnn-frontend sdpa_support_surface.h and
// attn_score_modifiers.h; xformers fmha/attn_bias.py; composable_kernel 01_fmha/mask.hpp;
// TensorRT-LLM fmha_v2/fmha/mask.h; CUTLASS example 93; gpt-oss triton/attention.py; Hugging Face
// issues 29623 and 39408; llama.cpp's llama-hparams.h.
constexpr std::array kConventions{
    Convention{"fa", "FlashAttention 2 and 3", Form::sides, Rows::bottom_right, true, false, false,
               "-1", "causal={causal}, window_size=({0}, {1})"},
    Convention{"fa4", "FlashAttention 4 (cute)", Form::sides, Rows::bottom_right, true, false,
               false, "None", "causal={causal}, window_size=({0}, {1})"},
    Convention{"torch", "PyTorch varlen_attn", Form::sides, Rows::bottom_right, false, false, false,
               "-1", "window_size=({0}, {1})"},
    Convention{"te", "Transformer Engine", Form::sides, Rows::argument, false, false, false, "-1",
               "window_size=({0}, {1}), mask type aligned {anchor}"},
    Convention{"jax", "JAX Splash LocalMask", Form::sides, Rows::by_position, false, false, false,
               "None", "window_size=({0}, {1})"},
    Convention{"flashinfer", "FlashInfer", Form::keys_before, Rows::bottom_right, true, false,
               false, "-1", "causal={causal}, window_left={0}"},
    Convention{"sglang", "SGLang", Form::keys_before, Rows::by_position, false, false, false, "-1",
               "sliding_window_size={0}"},
    Convention{"axlearn", "AXLearn", Form::keys_before, Rows::by_position, false, false, false,
               "None", "sliding_window_size={0}"},
    Convention{"hf", "Hugging Face config.json", Form::keys, Rows::by_position, false, false, false,
               "null", "sliding_window={0}"},
    Convention{"vllm", "vLLM config", Form::keys, Rows::by_position, false, false, false, "None",
               "sliding_window={0}"},
    Convention{"xformers", "xformers", Form::keys, Rows::bottom_right, false, false, false, "",
               "LowerTriangularFromBottomRightLocalAttentionMask(_window_size={0})"},
    Convention{"xformers-local", "xformers", Form::sides, Rows::bottom_right, false, false, true,
               "", "LocalAttentionFromBottomRightMask(window_left={0}, window_right={1})"},
    Convention{
        "cudnn", "cuDNN frontend", Form::bounds, Rows::argument, false, false, false, "unset",
        "diagonal_alignment={anchor}, diagonal_band_left_bound={0}, diagonal_band_right_bound={1}"},
    Convention{"trtllm", "TensorRT-LLM fmha_v2", Form::keys, Rows::by_position, false, false, false,
               "", "sliding_window_size={0}"},
    Convention{"cutlass", "CUTLASS example 93 (decode)", Form::keys, Rows::bottom_right, false,
               true, false, "", "sliding_window_size={0}"},
    Convention{"gpt-oss", "gpt-oss Triton", Form::keys, Rows::by_position, false, false, false, "",
               "BANDWIDTH={0}"},
    Convention{"ort", "ONNX Runtime GroupQueryAttention", Form::keys, Rows::by_position, false,
               false, false, "", "local_window_size={0}"},
    Convention{"llama.cpp", "llama.cpp", Form::keys, Rows::by_position, false, false, false, "",
               "n_swa={0}, LLAMA_SWA_TYPE_STANDARD"},
    Convention{"llama.cpp:symmetric", "llama.cpp", Form::diameter, Rows::by_position, false, false,
               false, "", "n_swa={0}, LLAMA_SWA_TYPE_SYMMETRIC"},
    Convention{"llama.cpp:chunked", "llama.cpp", Form::chunk, Rows::by_position, false, false,
               false, "", "n_swa={0}, LLAMA_SWA_TYPE_CHUNKED"},
    Convention{"chunked", "Llama 4 config.json", Form::chunk, Rows::by_position, false, false,
               false, "", "attention_chunk_size={0}"},
    Convention{"modernbert", "ModernBERT config.json", Form::diameter, Rows::by_position, false,
               false, false, "", "local_attention={0}"},
    Convention{"ck:b", "composable_kernel", Form::sides, Rows::bottom_right, false, false, false,
               "-1", "-mask=b:{0},{1}"},
    Convention{"ck:t", "composable_kernel", Form::sides, Rows::top_left, false, false, false, "-1",
               "-mask=t:{0},{1}"},
    Convention{"ck:xb", "composable_kernel", Form::centred, Rows::bottom_right, false, false, false,
               "", "-mask=xb:{0}"},
    Convention{"ck:xt", "composable_kernel", Form::centred, Rows::top_left, false, false, false, "",
               "-mask=xt:{0}"},
};

using Numbers = std::vector<Index>;

bool is_count_right(Form form, std::size_t numbers) {
  if (form == Form::bounds) return numbers == 1 || numbers == 2;
  return numbers == (form == Form::sides ? 2U : 1U);
}

Index number_of(Side side) {
  return side.bounded ? side.reach : -1;
}
Side side_of(Index number) {
  return number < 0 ? Side::unbounded() : Side::of(number);
}

// The numbers that state a window; nothing where the form has none for it.
std::optional<Numbers> to_numbers(Form form, const Window& window, bool causal_flag) {
  using Kind = Window::Kind;
  if ((window.kind == Kind::chunked) != (form == Form::chunk)) return std::nullopt;
  const Side left = window.reach_left(), right = window.reach_right();
  const bool causal = right == Side::of(0);
  const bool open = causal_flag && !right.bounded;  // said by the flag
  switch (form) {
    case Form::sides:
      return Numbers{number_of(left), number_of(right)};
    case Form::keys_before:
      if (!causal && !open) return std::nullopt;
      return Numbers{number_of(left)};
    case Form::keys:
      if (!causal || !left.bounded) return std::nullopt;
      return Numbers{left.reach + 1};
    case Form::bounds:
      return Numbers{left.bounded ? left.reach + 1 : -1, number_of(right)};
    case Form::diameter:
      if (!left.bounded || !(left == right)) return std::nullopt;
      if (left.reach == 0 || left.reach > kMaxIndex / 2) return std::nullopt;  // 0 reads as "off"
      return Numbers{2 * left.reach};
    case Form::centred: {
      if (!left.bounded || !right.bounded) return std::nullopt;
      const Index W = left.reach + right.reach + 1;
      if (left.reach != W / 2) return std::nullopt;
      return Numbers{W};
    }
    case Form::chunk:
      return Numbers{window.width};
  }
  return std::nullopt;
}

// The smallest number that has a meaning; -1 stands for no bound where a bound may be left out.
Index least_number(Form form) {
  switch (form) {
    case Form::sides:
    case Form::keys_before:
    case Form::bounds:
      return -1;
    case Form::diameter:
    case Form::keys:
    case Form::centred:
    case Form::chunk:
      return 1;
  }
  return 1;
}

// The window that numbers state.
Window to_window(Form form, const Numbers& n, bool causal) {
  const Side right = causal ? Side::of(0) : Side::unbounded();
  const auto band = [](Side left, Side after) {
    return from_flash_attention({false, number_of(left), number_of(after)});
  };
  switch (form) {
    case Form::sides:
      return band(side_of(n[0]), causal ? Side::of(0) : side_of(n[1]));
    case Form::keys_before:
      return band(side_of(n[0]), right);
    case Form::keys:
      return band(Side::of(n[0] - 1), right);
    case Form::bounds:
      return band(n[0] < 0 ? Side::unbounded() : Side::of(n[0] - 1),
                  n.size() > 1 ? side_of(n[1]) : Side::of(0));
    case Form::diameter:
      return band(Side::of(n[0] / 2), Side::of(n[0] / 2));
    case Form::centred:
      return band(Side::of(n[0] / 2), Side::of(n[0] - 1 - n[0] / 2));
    case Form::chunk:
      return Window::chunked(n[0]);
  }
  return {};
}

std::string_view form_text(Form form) {
  switch (form) {
    case Form::sides:
      return "L,R: keys before and after the query, -1 for no bound";
    case Form::keys_before:
      return "L: keys before the query, -1 for no bound";
    case Form::keys:
      return "W: keys that a query sees, itself included";
    case Form::bounds:
      return "B or B,R: keys up to the query, itself included, and after it; -1 for no bound";
    case Form::diameter:
      return "A: A / 2 keys to either side";
    case Form::centred:
      return "W: keys around the query";
    case Form::chunk:
      return "C: tokens of a chunk";
  }
  return {};
}

Numbers parse_numbers(const Convention& c, std::string_view text) {
  Numbers numbers;
  const std::string remedy = fmt::format("{} takes {}", c.word, form_text(c.form));
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    Index number = 0;
    const auto [rest, trouble] = std::from_chars(text.data() + begin, text.data() + end, number);
    if (trouble == std::errc::result_out_of_range)
      throw UsageError("a number is too large", remedy);
    if (trouble != std::errc{} || rest != text.data() + end) {
      throw UsageError(fmt::format("'{}' is not a whole number",
                                   text.substr(begin, std::min(end - begin, std::size_t{40}))),
                       remedy);
    }
    const bool zero_of_bounds = c.form == Form::bounds && numbers.empty() && number == 0;
    // A count of keys before the query makes one more with its own.
    if (number < least_number(c.form) || number > kMaxIndex - 1 || zero_of_bounds) {
      throw UsageError(fmt::format("{} has no meaning there", number), remedy);
    }
    if (number < 0 && c.needs_two_bounds) {
      throw UsageError("both sides need a bound there", remedy);
    }
    numbers.push_back(number);
    begin = end + 1;
  }
  if (!is_count_right(c.form, numbers.size())) {
    throw UsageError(fmt::format("the count of numbers, {}, is not right", numbers.size()), remedy);
  }
  return numbers;
}

// The convention whose word, with a colon, begins the specification; the longest where several do.
const Convention* convention_of(std::string_view spec) {
  const Convention* found = nullptr;
  for (const Convention& c : kConventions) {
    const bool begins =
        spec.size() > c.word.size() && spec.starts_with(c.word) && spec[c.word.size()] == ':';
    if (begins && (found == nullptr || c.word.size() > found->word.size())) found = &c;
  }
  return found;
}

MaskSpec parse_convention(const Convention& c, std::string_view numbers,
                          std::optional<bool> causal) {
  if (causal == false && !c.causal_flag) {
    throw UsageError(
        fmt::format("{} says itself what is causal, so --no-causal has no say", c.word),
        "leave --no-causal out, or state the band with --left and --right");
  }
  // FlashAttention's numbers say both sides, and its flag can only hide later keys.
  const bool hides_later =
      c.form == Form::sides ? c.causal_flag && causal == true : causal.value_or(true);
  const Window window = to_window(c.form, parse_numbers(c, numbers), hides_later);
  if (causal == true && !(window.reach_right() == Side::of(0))) {
    throw UsageError("it lets queries see later keys, so --causal contradicts it",
                     "leave --causal out");
  }
  const bool top_left = c.rows == Rows::top_left || c.rows == Rows::argument;
  return {window, top_left ? Anchor::top_left : Anchor::bottom_right,
          c.rows == Rows::bottom_right || c.rows == Rows::top_left};
}

std::optional<MaskSpec> parse_plain(std::string_view spec, std::optional<bool> causal) {
  const Window full = Window::band(Side::unbounded(), Side::unbounded());
  if (spec == "none") return MaskSpec{causal == false ? full : Window::global()};
  if (spec == "causal" && causal != false) return MaskSpec{Window::global()};
  if (spec == "full" && causal != true) return MaskSpec{full};
  if (spec == "causal" || spec == "full") {
    throw UsageError("--causal or --no-causal contradicts it", "leave that option out");
  }
  return std::nullopt;
}

std::string reach(const Side& side) {
  return side.bounded ? fmt::format("{}", side.reach) : std::string("unbounded");
}

std::string window_text(const Window& window) {
  switch (window.kind) {
    case Window::Kind::global:
      return "no window, causal";
    case Window::Kind::causal:
      return fmt::format("W = {} {}, the query's own included", window.width,
                         window.width == 1 ? "key" : "keys");
    case Window::Kind::band:
      return fmt::format("band left {}, right {}", reach(window.left), reach(window.right));
    case Window::Kind::chunked:
      return fmt::format("chunks of {} {}, causal within each", window.width,
                         window.width == 1 ? "token" : "tokens");
  }
  return {};
}

bool is_bottom_right(const Mask& mask) {
  return mask.q_offset == mask.n_k - mask.n_q;
}
bool is_top_left(const Mask& mask) {
  return mask.q_offset == 0;
}

// The numbers that say the mask to a system, or why there are none.
struct Said {
  Numbers numbers;
  std::string_view reason;  // empty where it can be said
};

Said said(const Convention& c, const Mask& mask) {
  const Window& window = mask.window;
  if (mask.sinks > 0) return {{}, "not converted: sink tokens"};
  if (c.rows == Rows::top_left && !is_top_left(mask)) return {{}, "it aligns top-left"};
  if (c.rows == Rows::bottom_right && !is_bottom_right(mask)) return {{}, "it aligns bottom-right"};
  if (c.rows == Rows::by_position && !is_bottom_right(mask)) {
    return {{}, "its calls on a cache align bottom-right"};
  }
  if (c.decode_only && mask.n_q != 1) return {{}, "decode only: one query"};
  if (window.kind == Window::Kind::chunked && c.form != Form::chunk) {
    return {{}, "not converted: chunks"};
  }
  const auto numbers = to_numbers(c.form, window, c.causal_flag);
  if (numbers) {
    const bool bounded = window.reach_left().bounded && window.reach_right().bounded;
    if (c.needs_two_bounds && !bounded) return {{}, "both sides need a bound"};
    return {*numbers, ""};
  }
  switch (c.form) {
    case Form::chunk:
      return {{}, "the mask has no chunks"};
    case Form::diameter:
      return {{}, "it has the same reach to both sides"};
    case Form::centred:
      return {{}, "its window lies around the query"};
    default:
      return {
          {},
          window.reach_right() == Side::of(0) ? "leave its window unset" : "it hides later keys"};
  }
}

Phrase phrase(const Convention& c, const Mask& mask) {
  const Said words = said(c, mask);
  const Numbers& numbers = words.numbers;  // clang 14 captures no structured binding
  Phrase result{std::string(c.word), std::string(c.system), {}, {}, std::string(words.reason)};
  if (!words.reason.empty()) return result;
  const bool causal = mask.window.reach_right() == Side::of(0);
  const auto spelled = [&](std::size_t i) {
    if (i >= numbers.size()) return std::string();
    // FlashAttention's causal calls without a window leave both sides open.
    const bool open = numbers[i] < 0 || (c.causal_flag && causal && numbers[0] < 0);
    return open ? std::string(c.no_bound) : fmt::format("{}", numbers[i]);
  };
  result.call = fmt::format(
      fmt::runtime(c.call), spelled(0), spelled(1), fmt::arg("causal", causal ? "True" : "False"),
      fmt::arg("anchor", is_bottom_right(mask) ? "BOTTOM_RIGHT" : "TOP_LEFT"));
  // A specification holds neither a flag that was cleared nor an alignment that is asked for.
  const bool flag_is_cleared = c.form == Form::keys_before && !causal;
  if (!flag_is_cleared) result.spec = fmt::format("{}:{}", c.word, fmt::join(numbers, ","));
  const bool alignment_is_asked = c.rows == Rows::argument && !is_top_left(mask);
  if (alignment_is_asked && is_bottom_right(mask)) result.spec += " --anchor bottom-right";
  return result;
}

// FlexAttention takes the predicate itself, so it can say everything.
Phrase flex_phrase(const Mask& mask) {
  const Window& window = mask.window;
  const std::string query = mask.q_offset == 0
                                ? "q"
                                : fmt::format("(q {} {})", mask.q_offset < 0 ? '-' : '+',
                                              mask.q_offset < 0 ? -mask.q_offset : mask.q_offset);
  std::string right, left;
  if (const Side side = window.reach_right(); side.bounded) {
    right = side.reach == 0 ? fmt::format("(kv <= {})", query)
                            : fmt::format("(kv <= {} + {})", query, side.reach);
  }
  if (window.kind == Window::Kind::chunked) {
    left = fmt::format("(kv // {0} == {1} // {0})", window.width, query);
  } else if (const Side side = window.reach_left(); side.bounded) {
    left = fmt::format("(kv >= {} - {})", query, side.reach);
  }
  if (mask.sinks > 0 && !left.empty()) left = fmt::format("({} | (kv < {}))", left, mask.sinks);
  std::string both = right;
  if (!left.empty()) both += both.empty() ? left : " & " + left;
  if (both.empty()) both = "kv >= 0";
  return {"", "FlexAttention mask_mod", "lambda b, h, q, kv: " + both, "", ""};
}

std::string flash_attention_text(const Mask& mask) {
  const Phrase fa = phrase(*convention_of("fa:"), mask);
  if (fa.reason.empty()) return "FlashAttention " + fa.call;
  if (mask.sinks > 0) return "no FlashAttention equivalent: sink tokens";
  if (mask.window.kind == Window::Kind::chunked) return "not converted to FlashAttention: chunks";
  return "no FlashAttention equivalent: top-left anchor";
}

}  // namespace

std::optional<FlashAttentionWindow> to_flash_attention(const Window& window) {
  if (window.kind == Window::Kind::chunked) return std::nullopt;
  const Side left = window.reach_left(), right = window.reach_right();
  const bool causal = right == Side::of(0);
  return FlashAttentionWindow{causal, number_of(left),
                              causal && !left.bounded ? -1 : number_of(right)};
}

Window from_flash_attention(FlashAttentionWindow fa) {
  if (fa.causal || fa.right == 0) {
    return fa.left < 0 ? Window::global() : Window::causal(fa.left + 1);
  }
  return Window::band(side_of(fa.left), side_of(fa.right));
}

std::vector<std::string> convention_words() {
  std::vector<std::string> words;
  for (const Convention& c : kConventions) words.emplace_back(c.word);
  return words;
}

MaskSpec parse_mask_spec(std::string_view spec, std::optional<bool> causal) {
  try {
    if (const auto plain = parse_plain(spec, causal)) return *plain;
    const Convention* c = convention_of(spec);
    if (c == nullptr) {
      throw UsageError("no such convention",
                       fmt::format("write none, full, causal, or SYSTEM:NUMBERS such as fa:127,0; "
                                   "the systems are {}",
                                   fmt::join(convention_words(), ", ")));
    }
    return parse_convention(*c, spec.substr(c->word.size() + 1), causal);
  } catch (const UsageError& error) {
    constexpr std::size_t kMost = 40;
    const std::string_view rest = spec.size() > kMost ? "..." : "";
    throw UsageError(fmt::format("--mask {}{}: {}", spec.substr(0, kMost), rest, error.what()),
                     error.remedy());
  }
}

std::vector<Phrase> phrases(const Mask& mask) {
  std::vector<Phrase> all;
  for (const Convention& c : kConventions) all.push_back(phrase(c, mask));
  all.push_back(flex_phrase(mask));
  return all;
}

std::string describe(const Mask& mask) {
  std::string text = window_text(mask.window);
  if (mask.sinks > 0) text += fmt::format(", {} sink tokens", mask.sinks);
  return fmt::format("{} ({})", text, flash_attention_text(mask));
}

}  // namespace swa
