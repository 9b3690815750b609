// A kernel of somebody else, in a shared library that implements verify/swa_plugin.h.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "verify/kernel.hpp"

namespace swa {

inline constexpr double kPluginTimeout = 60;  // seconds

// Memory of a GPU that a plug-in's tensors are copied to and back, all together.
class DeviceMirror {
 public:
  virtual ~DeviceMirror() = default;
  // The device's address of the first byte. Throws where the device has not as many left.
  virtual std::byte* upload(const std::byte* from, std::size_t bytes) = 0;
  // What upload() copied, after all that runs on the device has ended. Throws where it broke off.
  virtual void download(std::byte* to, std::size_t bytes) = 0;
};
using MakeDeviceMirror = std::function<std::unique_ptr<DeviceMirror>()>;

struct PluginOptions {
  double timeout = kPluginTimeout;  // seconds that one call may take
  double memory = 0;  // bytes that its process may hold besides the tensors; 0: no limit
  // Why no tensors can lie on a device, as a clause; empty where they can.
  std::string device_absence = "this build has no CUDA kernels";
  // The program that the plug-in runs in; its main() calls run_plugin_host() as below.
  std::string host = "/proc/self/exe";
};

// What a plug-in did that it may not do, in one sentence.
class PluginError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The kernel `plugin:PATH`, and the granule that it declares. It runs in a process of its own,
// which is started now, serves one call at a time, and is replaced by a new one after it failed in
// any way. It ends with the last copy of the kernel, or with this process.
//
// Both functions of the kernel throw PluginError for a library that does
// not load or is built for another version, an exception, a signal, exit(), a call beyond the
// timeout or the memory, a process left behind, and a write to inputs or beyond an output. They
// throw Stopped after request_stop().
// Throws UsageError where there is no such file, and CannotRun for a plug-in that wants its tensors
// on a device where there is none.
Kernel plugin_kernel(const std::string& path, const PluginOptions& options = {});

// The bytes that a plug-in's copy of the tensors takes, as a double.
double plugin_bytes(const Problem& problem);

// Whether this process was started for a plug-in. A program that calls plugin_kernel() asks first
// thing in main(), and then returns run_plugin_host().
bool is_plugin_host(int argc, char** argv);
// `device` is called for a plug-in that wants its tensors there.
int run_plugin_host(int argc, char** argv, const MakeDeviceMirror& device = {});

}  // namespace swa
