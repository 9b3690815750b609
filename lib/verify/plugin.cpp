#include "verify/plugin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>

#include "error.hpp"
#include "verify/elements.hpp"
#include "verify/plugin_library.hpp"
#include "verify/plugin_problem.hpp"
#include "verify/plugin_process.hpp"
#include "verify/plugin_tensors.hpp"

namespace swa {
namespace {

// Members before it are in the struct of every header of this version.
constexpr int kShortestStruct = offsetof(swa_attention, max_threads);

std::string message_of(const swa_attention& a) {
  const std::string text = one_line(a.message);
  return text.empty() ? "it gives no reason" : text;
}

// Throws where the plug-in was compiled with a header that does not fit.
void check_built(const swa_attention& a) {
  if (a.built_version == 0) {
    throw PluginError(
        "the plug-in does not say which version of swa_plugin.h it was built with "
        "(SWA_PLUGIN_BEGIN does)");
  }
  if (a.built_version != SWA_PLUGIN_VERSION) {
    throw PluginError(
        fmt::format("the plug-in was built with version {} of swa_plugin.h, and swa speaks {}",
                    a.built_version, SWA_PLUGIN_VERSION));
  }
  if (a.built_size < kShortestStruct || a.built_size > static_cast<int>(sizeof a)) {
    throw PluginError(fmt::format(
        "the plug-in was built with a struct swa_attention of {} bytes, and swa fills {}{}",
        a.built_size, sizeof a,
        a.built_size < kShortestStruct ? fmt::format(" (at least {})", kShortestStruct) : ""));
  }
}

// Throws for a return value that is not SWA_OK.
void check_forward(const Reply& reply) {
  if (reply.returned == SWA_OK) return;
  if (reply.returned == SWA_FAILED) {
    throw PluginError("the plug-in failed in SWA_FORWARD: " + message_of(reply.attention));
  }
  if (reply.returned == SWA_UNSUPPORTED) {
    throw PluginError("the plug-in refused in SWA_FORWARD what it took in SWA_DESCRIBE: " +
                      message_of(reply.attention));
  }
  throw PluginError(
      fmt::format("the plug-in returned {} from SWA_FORWARD, which is no status", reply.returned));
}

struct Description {
  std::optional<std::string> unsupported;
  int memory = SWA_HOST;
  bool no_lse = false;
  std::optional<Index> granule;
};

Description description_of(const Reply& reply) {
  const swa_attention& a = reply.attention;
  check_built(a);
  if (reply.returned == SWA_FAILED) {
    throw PluginError("the plug-in failed in SWA_DESCRIBE: " + message_of(a));
  }
  if (reply.returned != SWA_OK && reply.returned != SWA_UNSUPPORTED) {
    throw PluginError(fmt::format("the plug-in returned {} from SWA_DESCRIBE, which is no status",
                                  reply.returned));
  }
  if (a.memory != SWA_HOST && a.memory != SWA_DEVICE) {
    throw PluginError(
        fmt::format("the plug-in declares memory {}, which is neither "
                    "SWA_HOST nor SWA_DEVICE",
                    a.memory));
  }
  if (a.granule < 0 || a.granule > kMaxIndex) {
    throw PluginError(fmt::format("the plug-in declares a granule of {} keys", a.granule));
  }
  Description said{{}, a.memory, a.no_lse != 0, {}};
  if (a.granule > 0) said.granule = a.granule;
  if (reply.returned == SWA_UNSUPPORTED) said.unsupported = message_of(a);
  return said;
}

// One library, its process, and the memory between.
class Plugin {
  // After a failure the process may be in any state: the next call gets a new one.
  template <class Body>
  void guarded(const Body& body) {
    const std::lock_guard lock(one_at_a_time_);
    try {
      body();
    } catch (...) {
      process_.reset();
      throw;
    }
  }

 public:
  Plugin(std::string library, const PluginOptions& options)
      : library_(std::move(library)), options_(options) {}

  Description describe(const Problem& problem) {
    Description said;
    guarded([&] {
      PluginTensors tensors(shared_, problem, nullptr, false);
      const Reply reply = call(tensors.request(attention_of(problem, SWA_DESCRIBE)));
      tensors.check();
      said = description_of(reply);
    });
    return said;
  }

  void forward(const Problem& problem, const Inputs& inputs, Attention& outputs) {
    const bool no_lse = describe(problem).no_lse;
    guarded([&] {
      PluginTensors tensors(shared_, problem, &inputs, !no_lse);
      const Reply reply = call(tensors.request(attention_of(problem, SWA_FORWARD)));
      tensors.check();
      check_forward(reply);
      tensors.read(outputs);
    });
  }

 private:
  Reply call(const Request& request) {
    if (!process_) load();
    return process_->call(request);
  }

  // A library that did not load once is not loaded again: it may have taken the whole timeout.
  void load() {
    if (!not_loaded_.empty()) throw PluginError(not_loaded_);
    try {
      if (const auto why = why_no_library(library_)) {
        throw PluginError("the plug-in cannot be loaded: " + *why);
      }
      process_ = std::make_unique<PluginProcess>(library_, options_, shared_);
    } catch (const PluginError& error) {
      not_loaded_ = error.what();
      throw;
    }
  }

  std::string library_;
  PluginOptions options_;
  std::string not_loaded_;
  std::mutex one_at_a_time_;
  SharedMemory shared_;
  std::unique_ptr<PluginProcess> process_;
};

std::string library_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code trouble;
  const fs::file_status status = fs::status(path, trouble);
  if (!fs::exists(status)) {
    throw UsageError(fmt::format("the plug-in '{}' does not exist", path),
                     "give the path of a shared library, such as plugin:./libmine.so");
  }
  if (!fs::is_regular_file(status)) {
    throw UsageError(fmt::format("the plug-in '{}' is not a file", path),
                     "give the path of a shared library, such as plugin:./libmine.so");
  }
  // With a slash in it: the loader looks for other names in the folders of the system.
  return fs::absolute(path, trouble).string();
}

}  // namespace

Kernel plugin_kernel(const std::string& path, const PluginOptions& options) {
  const auto plugin = std::make_shared<Plugin>(library_of(path), options);
  Kernel kernel;
  kernel.name = "plugin:" + path;
  int memory = SWA_HOST;
  try {
    const Description said = plugin->describe(Problem());
    if (said.memory == SWA_DEVICE && !options.device_absence.empty()) {
      throw CannotRun(fmt::format("the plug-in '{}' wants device pointers, and {}", path,
                                  options.device_absence),
                      "a plug-in that declares SWA_HOST runs here");
    }
    memory = said.memory;
    kernel.granule = said.granule;
  } catch (const PluginError&) {
    // Each problem says so as its verdict.
  }
  kernel.unsupported = [plugin, memory](const Problem& problem) -> std::optional<std::string> {
    if (!has_elements(problem.dtype)) {
      return fmt::format("plug-ins are given no {}", name(problem.dtype));
    }
    if (const auto reason = needs_contiguous(problem)) return reason;
    const Description said = plugin->describe(problem);
    if (said.memory != memory) {
      throw PluginError("the plug-in declares another memory for this problem than before");
    }
    return said.unsupported;
  };
  kernel.run = [plugin](const Problem& problem, const Inputs& inputs, Attention& outputs) {
    plugin->forward(problem, inputs, outputs);
  };
  return kernel;
}

}  // namespace swa
