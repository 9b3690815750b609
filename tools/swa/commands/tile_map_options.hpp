// The options of swa tile-map, as typed and as read.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "cli/problem_options.hpp"
#include "commands/tile_records.hpp"

namespace swa::commands {

inline constexpr std::size_t kMaxMaps = 100'000;

// What is asked of tile-map: maps, and one thing in their place at most.
struct TileMapRequest {
  std::vector<Problem> problems;
  std::vector<Map> maps;  // of the problems, for each rule and tile
  bool show = false, show_mask = false, conventions = false, figure = false;
  const cli::Option* kernel = nullptr;  // whose tiles are mapped, in place of `maps`; null: none
  bool sized = true;                    // false where --conventions made up a size
  std::string reach;                    // a stack such as LLLG; empty: none
  std::string layers;                   // such as LLLLLG or 128,none; empty: none
  std::vector<LayerKind> kinds;
};

class TileMapOptions {
 public:
  explicit TileMapOptions(cli::Command& command);

  // `figure`: whether --export asks for one. Throws UsageError for what has no meaning together.
  TileMapRequest read(bool figure) const;

 private:
  std::vector<Problem> problems() const;
  std::vector<Rule> rules() const;
  std::vector<TileShape> shapes(Rule rule, const Problem& problem) const;
  std::vector<Map> maps(const std::vector<Problem>& problems) const;
  // Throws where one of the options was given, which mean nothing to `to`.
  void refuse(std::initializer_list<const cli::Option*> others, const std::string& to,
              const std::string& remedy) const;
  void require_figure() const;
  void require_reach(const std::vector<Problem>& problems) const;
  void require_kernel() const;
  void read_heads(Sweep& sweep) const;
  void read_layers(TileMapRequest& request) const;

  cli::SizeOptions sizes_;
  cli::MaskOptions masks_;
  const cli::Option &BM_, &BN_, &rule_, &head_dim_, &head_dim_v_, &dtype_, &show_, &show_mask_,
      &reach_, &layers_, &conventions_, &kernel_, &heads_q_, &heads_kv_;
};

}  // namespace swa::commands
