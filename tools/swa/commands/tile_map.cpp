// swa tile-map: which tiles a windowed kernel visits, and how many are wasted.
#include <fmt/format.h>

#include <algorithm>

#include "cli/problem_options.hpp"
#include "cli/values.hpp"
#include "commands/commands.hpp"
#include "commands/drawing.hpp"
#include "commands/tile_records.hpp"
#include "error.hpp"
#include "figures/figures.hpp"
#include "mask/conventions.hpp"
#include "model/model.hpp"

namespace swa::commands {
namespace {

constexpr std::size_t kMaxMaps = 100'000;

struct Options {
  std::vector<Problem> problems;
  std::vector<Map> maps;  // of the problems, for each rule and tile
  bool show = false, show_mask = false, conventions = false, figure = false;
  std::string reach;   // a stack such as LLLG; empty: none
  std::string layers;  // such as LLLLLG or 128,none; empty: none
  std::vector<StackLayer> stack;
};

Index first_dependence_of(const std::string& stack, const Problem& p) {
  try {
    return first_dependence(stack, p.window.width, p.n_k);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--reach {}: {}", stack, error.what()), error.remedy());
  }
}

// How far back a stack of layers depends, for a window and a length.
report::Table reach_table(const Options& options) {
  report::Table table;
  table.name = "reach";
  for (const Problem& p : options.problems) {
    const Index first = first_dependence_of(options.reach, p);
    report::Record record;
    record.add({"stack", "stack"}, options.reach)
        .add({"window", "W"}, p.window.width)
        .add({"n", "n"}, p.n_k)
        .add({"first_dependence", "last token depends on positions >="}, first)
        .add({"span", "span"}, p.n_k - first)
        .hide("repro", fmt::format("swa tile-map --reach {} --W {} --nq {}", options.reach,
                                   p.window.width, p.n_q));
    append(table, record);
  }
  return table;
}

// Letters L and G, or the windows of the layers one by one.
std::vector<StackLayer> parse_stack(const std::string& text, const Window& local) {
  std::vector<StackLayer> stack;
  if (text.find_first_not_of("LG") == std::string::npos) {
    for (const char letter : text) {
      stack.push_back({std::string(1, letter), letter == 'L' ? local : Window::global()});
    }
    return stack;
  }
  for (const std::string& item : cli::split("--layers", text)) {
    const Window window =
        item == "none" ? Window::global() : Window::causal(cli::parse_count("--layers", item));
    stack.push_back({item, window});
  }
  return stack;
}

report::Lines preamble(const Problem& p) {
  report::Lines lines{{"mask: " + describe(p.mask())}};
  if (p.has_lengths()) lines.lines.push_back("batch: " + describe_batch(p));
  return lines;
}

std::string figure_of(const Options& options) {
  std::vector<TileShape> tiles;
  for (const Map& map : options.maps) {
    const auto same = [&](const TileShape& t) {
      return t.BM == map.tile.BM && t.BN == map.tile.BN;
    };
    if (std::none_of(tiles.begin(), tiles.end(), same)) tiles.push_back(map.tile);
  }
  return figures::tile_map(options.problems, tiles, options.show_mask);
}

cli::Outcome run(const Options& options) {
  cli::Outcome outcome;
  outcome.report.schema = "swa.tile-map/1";
  if (options.figure) outcome.figure = figure_of(options);
  auto& blocks = outcome.report.blocks;
  const Problem& first = options.problems.front();
  if (options.problems.size() == 1) blocks.push_back(preamble(first));
  if (!options.reach.empty()) {
    blocks.push_back(reach_table(options));
  } else if (options.conventions) {
    blocks.push_back(convention_table(first.mask()));
  } else if (!options.layers.empty()) {
    blocks.push_back(layer_table(options.maps.front(), options.stack, options.layers));
  } else {
    blocks.push_back(map_table(options.maps, options.show, options.show_mask));
    for (const Problem& p : options.problems) {
      if (options.show_mask) blocks.push_back(draw_mask(p.mask()));
    }
    for (const Map& map : options.maps) {
      if (options.show) blocks.push_back(draw_tiles(map.problem.mask(), map.tile));
    }
  }
  return outcome;
}

std::vector<Rule> parse_rules(const cli::Option& option) {
  std::vector<std::string> words;
  for (const Rule rule : kRules) words.emplace_back(name(rule));
  std::vector<Rule> rules;
  for (const std::string& word : cli::split(option.name, option.text)) {
    rules.push_back(*parse_rule(cli::parse_choice(option.name, word, words)));
  }
  return rules;
}

// Shapes of the lists; where a list was not given, the rule's own.
std::vector<TileShape> shapes(const cli::Option& BM, const cli::Option& BN, Rule rule,
                              const Problem& p) {
  const TileShape usual =
      BM.given() && BN.given() ? TileShape{} : usual_tile(rule, p.mask(), p.head_dim);
  const auto list = [](const cli::Option& option, Index one) {
    return option.given() ? cli::parse_counts(option.name, option.text) : std::vector<Index>{one};
  };
  std::vector<TileShape> tiles;
  for (const Index m : list(BM, usual.BM)) {
    for (const Index n : list(BN, usual.BN)) tiles.push_back({m, n});
  }
  return tiles;
}

// The options of tile-map, as typed.
struct Typed {
  cli::SizeOptions sizes;
  cli::MaskOptions masks;
  const cli::Option &BM, &BN, &rule, &head_dim, &head_dim_v, &dtype, &show, &show_mask, &reach,
      &layers, &conventions;

  explicit Typed(cli::Command& command)
      : sizes(command),
        masks(command),
        BM(command.add("BM", "", "query rows of a tile (default: the rule's own, or 128)")),
        BN(command.add("BN", "", "keys of a tile (default: the rule's own, or 128)")),
        rule(command.add("rule", "exact")),
        head_dim(command.add("head_dim", "64")),
        head_dim_v(command.add("head_dim_v", "",
                               "elements of a value and of an output (default: --head-dim)")),
        dtype(command.add("dtype", "bf16", "type of the elements, for the bytes of JSON")),
        show(command.add_flag("--show", "draw the tiles")),
        show_mask(
            command.add_flag("--show-mask", "draw the mask, and count the keys of each query")),
        reach(command.add_other(
            "--reach", "", "a stack of layers such as LLLG: how far back its last token depends")),
        layers(command.add("layers", "",
                           "count a stack of layers: LLLLLG, or its windows such as 128,none")),
        conventions(command.add_flag("--conventions", "what to pass to each system")) {}

  Options read(bool figure) const;

 private:
  std::vector<Problem> problems() const;
  // Throws where one of the options was given, which mean nothing to `to`.
  void refuse(std::initializer_list<const cli::Option*> others, const std::string& to,
              const std::string& remedy) const;
  void require_figure() const;
  void read_reach(Options& options) const;
  void read_layers(Options& options) const;
};

void Typed::refuse(std::initializer_list<const cli::Option*> others, const std::string& to,
                   const std::string& remedy) const {
  for (const cli::Option* other : others) {
    if (!other->given()) continue;
    throw UsageError(fmt::format("{} means nothing to {}", other->name, to), remedy);
  }
}

std::vector<Problem> Typed::problems() const {
  constexpr cli::Limits kHeadDim{1, 1 << 20};
  Sweep sweep;
  if (sizes.given() || !conventions.given()) {
    sizes.read(sweep);
  } else {
    sweep.n_q = {2};  // a square mask; of more than one query, so that no decode call is named
  }
  sweep.windows = masks.windows();
  sweep.sinks = masks.sinks();
  if (!sizes.given() && conventions.given()) {
    for (const Index sinks : sweep.sinks) sweep.n_q = {larger(sweep.n_q.front(), sinks)};
  }
  sweep.base.anchor = masks.anchor();
  sweep.base.head_dim = cli::parse_count(head_dim.name, head_dim.text, kHeadDim);
  if (head_dim_v.given()) {
    sweep.base.head_dim_v = cli::parse_count(head_dim_v.name, head_dim_v.text, kHeadDim);
  }
  sweep.base.dtype = *parse_dtype(cli::parse_choice(
      dtype.name, dtype.text, {"fp64", "fp32", "bf16", "fp16", "fp8_e4m3", "fp8_e5m2"}));
  return expand(sweep);
}

// The figures are of one mask, or of causal windows that alone differ, under exact bounds.
void Typed::require_figure() const {
  refuse({&reach, &layers, &conventions}, "a figure (.svg) of --export",
         "leave the .svg out, other kinds of file hold the table");
  if (rule.text != "exact") {
    throw UsageError(
        fmt::format("--export draws the exact bounds, not those of --rule {}", rule.text),
        "leave --rule out, or the .svg");
  }
  if (sizes.has_lengths()) {
    throw UsageError("--export draws one sequence, and lengths were given",
                     "give --nq and --nk, or leave the .svg out");
  }
}

void Typed::read_reach(Options& options) const {
  if (reach.text.empty()) throw UsageError("--reach has no value", "such as --reach LLLG");
  refuse(
      {&BM, &BN, &rule, &head_dim, &head_dim_v, &dtype, &show, &show_mask, &layers, &conventions},
      "--reach, which has no tiles", "it takes --W and the length of one sequence, --nq");
  for (const Problem& p : options.problems) {
    if (p.window.kind != Window::Kind::causal || p.sinks > 0 || p.n_q != p.n_k || p.has_lengths() ||
        p.anchor != Anchor::bottom_right) {
      throw UsageError("--reach needs one causal window, --W, over one sequence",
                       "such as --reach LLLG --W 4 --nq 64");
    }
  }
  options.reach = reach.text;
}

void Typed::read_layers(Options& options) const {
  if (layers.text.empty()) throw UsageError("--layers has no value", "such as --layers LLLLLG");
  refuse({&show, &show_mask, &conventions}, "--layers, which has several masks",
         "draw one window at a time, with --W");
  if (options.maps.size() != 1) {
    throw UsageError("--layers counts one stack, and lists were given",
                     "give one length, one window, one rule and one tile");
  }
  const Window& local = options.problems.front().window;
  const bool letters = layers.text.find_first_not_of("LG") == std::string::npos;
  if (letters && layers.text.find('L') != std::string::npos && local == Window::global()) {
    throw UsageError(
        fmt::format("--layers {} has local layers, and no window was given", layers.text),
        "give --W, the keys that a query of a local layer sees");
  }
  options.layers = layers.text;
  options.stack = parse_stack(layers.text, local);
  if (!letters && !(local == Window::global())) {
    throw UsageError(
        fmt::format("--layers {} states the windows itself, so the window has no say", layers.text),
        "leave the window out, or write the layers as letters L and G");
  }
}

Options Typed::read(bool figure) const {
  Options options;
  options.problems = problems();
  options.figure = figure;
  if (figure) require_figure();
  options.show = show.given();
  options.show_mask = show_mask.given();
  options.conventions = conventions.given();
  if (reach.given()) {
    read_reach(options);
    return options;
  }
  if (conventions.given()) {
    refuse({&BM, &BN, &rule, &show, &show_mask, &layers}, "--conventions, which has no tiles",
           "it takes a window, such as --W 128");
    if (options.problems.size() != 1) {
      throw UsageError("--conventions prints one mask, and lists were given", "give one window");
    }
    return options;
  }
  if ((show.given() || show_mask.given()) && options.problems.front().batch > 1) {
    throw UsageError("--show and --show-mask draw one sequence, and there are several",
                     "leave them out, or give one length");
  }
  for (const Problem& p : options.problems) {
    for (const Rule r : parse_rules(rule)) {
      for (const TileShape& tile : shapes(BM, BN, r, p)) {
        options.maps.push_back({p, r, tile});
        if (options.maps.size() > kMaxMaps) {
          throw UsageError(fmt::format("the sweep has more than {} maps", kMaxMaps),
                           "shorten a list, or run it in parts");
        }
      }
    }
  }
  if (layers.given()) read_layers(options);
  return options;
}

}  // namespace

std::unique_ptr<cli::Command> tile_map(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "tile-map", "which tiles a windowed kernel visits, and how many need a mask",
      "swa tile-map --nq 192 --W 40 --BM 16 --BN 16 --show");
  const auto typed = std::make_shared<Typed>(*command);
  command->add_figure(
      "the tiles, with --show-mask the mask, of a list of --W the share of PARTIAL tiles");
  command->on_run([typed, self = command.get()] { return run(typed->read(self->wants_figure())); });
  return command;
}

}  // namespace swa::commands
