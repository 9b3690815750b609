#include "commands/tile_map_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/values.hpp"
#include "error.hpp"

namespace swa::commands {
namespace {

// The global layers of a model whose local layers have this window: of a two-sided one they see
// all.
Window global_beside(const Window& local) {
  return local.reach_right() == Side::of(0) ? Window::global()
                                            : Window::band(Side::unbounded(), Side::unbounded());
}

// Letters L and G, or the windows of the layers one by one.
std::vector<std::pair<std::string, Window>> parse_stack(const std::string& text,
                                                        const Window& local) {
  std::vector<std::pair<std::string, Window>> stack;
  if (text.find_first_not_of("LG") == std::string::npos) {
    for (const char letter : text) {
      stack.emplace_back(std::string(1, letter), letter == 'L' ? local : global_beside(local));
    }
    return stack;
  }
  for (const std::string& item : cli::split("--layers", text)) {
    stack.emplace_back(item, item == "none" ? Window::global()
                                            : Window::causal(cli::parse_count("--layers", item)));
  }
  return stack;
}

}  // namespace

TileMapOptions::TileMapOptions(cli::Command& command)
    : sizes_(command),
      masks_(command),
      BM_(command.add("BM", "", "query rows of a tile (default: the rule's own, or 128)")),
      BN_(command.add("BN", "", "keys of a tile (default: the rule's own, or 128)")),
      rule_(command.add("rule", "exact")),
      head_dim_(command.add("head_dim", "64")),
      head_dim_v_(command.add("head_dim_v", "",
                              "elements of a value and of an output (default: --head-dim)")),
      dtype_(command.add("dtype", "bf16", "type of the elements, for the bytes of JSON")),
      show_(command.add_flag("--show", "draw the tiles")),
      show_mask_(
          command.add_flag("--show-mask", "draw the mask, and count the keys of each query")),
      reach_(command.add_other(
          "--reach", "", "a stack of layers such as LLLG: how far back its last token depends")),
      layers_(command.add("layers", "",
                          "count a stack of layers: LLLLLG, or its windows such as 128,none")),
      conventions_(command.add_flag("--conventions", "what to pass to each system")),
      kernel_(command.add("kernel", "",
                          "map what kernels visit, with their own tiles, and say how they are "
                          "launched: portable-*, cpu-tiled")),
      heads_q_(command.add("heads_q", "1", "query heads, for --kernel")),
      heads_kv_(command.add("heads_kv", "",
                            "key and value heads, for --kernel (default: as many as query "
                            "heads)")) {}

void TileMapOptions::refuse(std::initializer_list<const cli::Option*> others, const std::string& to,
                            const std::string& remedy) const {
  for (const cli::Option* other : others) {
    if (!other->given()) continue;
    throw UsageError(fmt::format("{} means nothing to {}", other->name, to), remedy);
  }
}

std::vector<Problem> TileMapOptions::problems() const {
  constexpr cli::Limits kHeadDim{1, 1 << 20};
  Sweep sweep;
  const bool sized = sizes_.given() || !conventions_.given();
  if (sized) sizes_.read(sweep);
  sweep.windows = masks_.windows();
  sweep.sinks = masks_.sinks();
  // --conventions needs no size: a square mask of more than one query names no decode-only call.
  if (!sized) sweep.n_q = {larger(2, sweep.sinks.back())};
  sweep.base.anchor = masks_.anchor();
  sweep.base.head_dim = cli::parse_count(head_dim_.name, head_dim_.text, kHeadDim);
  if (head_dim_v_.given()) {
    sweep.base.head_dim_v = cli::parse_count(head_dim_v_.name, head_dim_v_.text, kHeadDim);
  }
  read_heads(sweep);
  sweep.base.dtype = *parse_dtype(cli::parse_choice(
      dtype_.name, dtype_.text, {"fp64", "fp32", "tf32", "bf16", "fp16", "fp8_e4m3", "fp8_e5m2"}));
  return expand(sweep);
}

// Heads matter to kernels alone: these pack those of a kv head into one tile.
void TileMapOptions::read_heads(Sweep& sweep) const {
  sweep.heads_q = cli::parse_counts(heads_q_.name, heads_q_.text);
  if (heads_kv_.given()) sweep.heads_kv = cli::parse_counts(heads_kv_.name, heads_kv_.text);
  if (kernel_.given()) return;
  refuse({&heads_q_, &heads_kv_}, "the map of one head",
         "give --kernel too, or leave it out: the counts are those of one head");
}

void TileMapOptions::require_kernel() const {
  for (const cli::Option* own : {&BM_, &BN_, &rule_}) {
    if (!own->given()) continue;
    throw UsageError(
        fmt::format("--kernel {} has its own tile and loop bounds, so {} contradicts it",
                    kernel_.text, own->name),
        fmt::format("leave {} out, or --kernel", own->name));
  }
  refuse({&show_, &show_mask_, &layers_}, "--kernel, which counts the tiles of packed heads",
         "leave --kernel out, and give positions and keys of its tile as --BM and --BN");
}

std::vector<Rule> TileMapOptions::rules() const {
  std::vector<std::string> words;
  for (const Rule rule : kRules) words.emplace_back(name(rule));
  std::vector<Rule> rules;
  for (const std::string& word : cli::split(rule_.name, rule_.text)) {
    rules.push_back(*parse_rule(cli::parse_choice(rule_.name, word, words)));
  }
  return rules;
}

// Shapes of the lists; where a list was not given, the rule's own for the longest sequence.
std::vector<TileShape> TileMapOptions::shapes(Rule rule, const Problem& p) const {
  const Mask longest = Mask::make(p.window, p.sinks, p.n_q, p.n_k, p.anchor);
  const bool both = BM_.given() && BN_.given();
  const bool any_type = rule == Rule::exact || rule == Rule::flex;
  if (!both && !any_type && bytes(p.dtype) != 2) {
    throw UsageError(fmt::format("--dtype {}: only the 16-bit tiles of --rule {} are known here",
                                 dtype_.text, name(rule)),
                     "give --BM and --BN, or a 16-bit type");
  }
  const TileShape usual = both ? TileShape{} : usual_tile(rule, longest, p.head_dim);
  const auto list = [](const cli::Option& option, Index one) {
    return option.given() ? cli::parse_counts(option.name, option.text) : std::vector<Index>{one};
  };
  std::vector<TileShape> tiles;
  for (const Index m : list(BM_, usual.BM)) {
    for (const Index n : list(BN_, usual.BN)) tiles.push_back({m, n});
  }
  return tiles;
}

std::vector<Map> TileMapOptions::maps(const std::vector<Problem>& problems) const {
  const std::vector<Rule> asked = rules();
  std::vector<Map> maps;
  for (const Problem& p : problems) {
    for (const Rule rule : asked) {
      for (const TileShape& tile : shapes(rule, p)) {
        maps.push_back({p, rule, tile});
        require_size_of_sweep(maps.size(), p);
        if (maps.size() > kMaxMaps) {
          throw UsageError(fmt::format("the sweep has more than {} maps", kMaxMaps),
                           "shorten a list, or run it in parts");
        }
      }
    }
  }
  return maps;
}

// A figure shows one sequence, under one rule.
void TileMapOptions::require_figure() const {
  refuse({&reach_, &layers_, &conventions_, &kernel_}, "a figure (.svg) of --export",
         "leave the .svg out, other kinds of file hold the table");
  if (rules().size() > 1) {
    throw UsageError(
        fmt::format("--export draws the tiles of one rule, and --rule names {}", rule_.text),
        "give one rule, or leave the .svg out");
  }
  if (sizes_.has_lengths()) {
    throw UsageError("--export draws one sequence, and lengths were given",
                     "give --nq and --nk, or leave the .svg out");
  }
}

void TileMapOptions::require_reach(const std::vector<Problem>& problems) const {
  if (reach_.text.empty()) throw UsageError("--reach has no value", "such as --reach LLLG");
  refuse({&BM_, &BN_, &rule_, &head_dim_, &head_dim_v_, &dtype_, &show_, &show_mask_, &layers_,
          &conventions_, &kernel_},
         "--reach, which has no tiles", "it takes --W and the length of one sequence, --nq");
  for (const Problem& p : problems) {
    if (p.window.kind != Window::Kind::causal || p.sinks > 0 || p.n_q != p.n_k || p.has_lengths() ||
        p.anchor != Anchor::bottom_right) {
      throw UsageError("--reach needs one causal window, --W, over one sequence",
                       "such as --reach LLLG --W 4 --nq 64");
    }
  }
}

// Layers of one window are one kind, and have a tile of their own where none was given.
void TileMapOptions::read_layers(TileMapRequest& request) const {
  if (layers_.text.empty()) throw UsageError("--layers has no value", "such as --layers LLLLLG");
  refuse({&show_, &show_mask_, &conventions_}, "--layers, which has several masks",
         "draw one window at a time, with --W");
  if (request.problems.size() != 1 || rules().size() != 1) {
    throw UsageError("--layers counts one stack, and lists were given",
                     "give one length, one window, one rule and one tile");
  }
  const Window& local = request.problems.front().window;
  const auto stack = parse_stack(layers_.text, local);
  const bool letters = layers_.text.find_first_not_of("LG") == std::string::npos;
  if (letters && layers_.text.find('L') != std::string::npos && local == Window::global()) {
    throw UsageError(
        fmt::format("--layers {} has local layers, and no window was given", layers_.text),
        "give --W, the keys that a query of a local layer sees");
  }
  if (!letters && !(local == Window::global())) {
    throw UsageError(fmt::format("--layers {} states the windows itself, so the window has no say",
                                 layers_.text),
                     "leave the window out, or write the layers as letters L and G");
  }
  request.layers = layers_.text;
  for (const auto& [word, window] : stack) {
    const auto same = [&](const LayerKind& kind) { return kind.map.problem.window == window; };
    const auto found = std::find_if(request.kinds.begin(), request.kinds.end(), same);
    if (found != request.kinds.end()) {
      ++found->layers;
      continue;
    }
    Problem p = request.problems.front();
    p.window = window;
    const std::vector<Map> one = maps({p});
    if (one.size() != 1) {
      throw UsageError("--layers counts one stack, and lists were given", "give one BM and one BN");
    }
    request.kinds.push_back({word, 1, one.front()});
  }
}

TileMapRequest TileMapOptions::read(bool figure) const {
  TileMapRequest request;
  request.problems = problems();
  request.show = show_.given();
  request.show_mask = show_mask_.given();
  request.conventions = conventions_.given();
  request.figure = figure;
  request.sized = sizes_.given();
  if (figure) require_figure();
  if (reach_.given()) {
    require_reach(request.problems);
    request.reach = reach_.text;
  } else if (conventions_.given()) {
    refuse({&BM_, &BN_, &rule_, &show_, &show_mask_, &layers_, &kernel_},
           "--conventions, which has no tiles", "it takes a window, such as --W 128");
    if (request.problems.size() != 1 || sizes_.has_lengths()) {
      throw UsageError("--conventions prints one mask, and lists were given",
                       "give one window, and one length or none");
    }
  } else if (kernel_.given()) {
    require_kernel();
    request.kernel = &kernel_;
  } else if (layers_.given()) {
    read_layers(request);
  } else {
    if ((show_.given() || show_mask_.given()) && request.problems.front().batch > 1) {
      throw UsageError("--show and --show-mask draw one sequence, and there are several",
                       "leave them out, or give one length");
    }
    request.maps = maps(request.problems);
  }
  return request;
}

}  // namespace swa::commands
