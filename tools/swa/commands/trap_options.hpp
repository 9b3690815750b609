// The options of trap-demo.
#pragma once

#include <string_view>

#include "cli/command.hpp"
#include "commands/chapter_traps.hpp"

namespace swa::commands {

class TrapOptions {
 public:
  explicit TrapOptions(cli::Command& command);

  const cli::Option& name() const { return name_; }
  bool list() const { return list_.given(); }
  const cli::Option& kernel() const { return kernel_; }

  // The trap's own setting, changed by what was given. No option is silently ignored: throws
  // UsageError for one that means nothing to the trap.
  Setting read(const Trap& trap) const;
  // Throws UsageError where any option was given that changes a setting; `why` is the complaint's
  // end, such as "means nothing to a fault of the catalogue". --kernel changes none.
  void require_none(std::string_view why) const;

 private:
  const cli::Option &name_, &list_, &n_, &head_dim_, &window_, &mask_, &chunk_, &seed_, &order_,
      &BM_, &BN_, &guard_, &kernel_;
};

}  // namespace swa::commands
