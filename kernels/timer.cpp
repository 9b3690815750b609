#include "kernels/timer.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "error.hpp"
#include "kernels/device/call.hpp"
#include "kernels/device/device.hpp"
#include "kernels/device/random.hpp"
#include "kernels/device/replay.hpp"
#include "kernels/device/tensors.hpp"
#include "kernels/forward.hpp"
#include "kernels/gpu_kernel.hpp"
#include "kernels/launch/plan.hpp"
#include "kernels/roofs/roofs.hpp"
#include "problem/traffic.hpp"

namespace swa {
namespace {

struct Prepared {
  device::Replayed replayed;
  std::string kernel;    // a name of gpu_kernel(), of kernels alone
  GpuLaunch launch;      // of kernels alone
  double mma_flops = 0;  // of loops alone
};

LaunchGrid grid_of(const std::string& kernel, const std::vector<LaunchPlan>& plans) {
  for (const LaunchPlan& plan : plans) {
    if (plan.kernel == kernel && !plan.unsupported) {
      return {plan.blocks, plan.threads, plan.smem_bytes};
    }
  }
  return {};
}

constexpr double kLeastLoop = 2e-4;  // seconds: a launch takes 3e-6 of them
constexpr double kMostIterations = 0x1p30;

std::optional<MmaRoof> roof_of(std::string_view unit, Dtype dtype) {
  for (const MmaRoof& roof : kMmaRoofs) {
    if (name(roof.unit) == unit && roof.dtype == dtype) return roof;
  }
  return std::nullopt;
}

}  // namespace

struct GpuTimer::State {
  State(const Problem& p, Replay how)
      : problem(p), replay(how), facts(device::all().front()), tensors(p), flush(4 * facts.l2) {
    SWA_CUDA(cudaDeviceSynchronize());
  }

  const Problem problem;
  const Replay replay;
  const device::Facts facts;
  device::Tensors tensors;
  device::Buffer flush;  // four times the L2
  device::Buffer clocks;
  device::Buffer roof_from, roof_to;
  device::OwnStream stream;
  device::Event start, end;
  Workspace workspace;
  std::vector<Prepared> entries;

  Entry add(const std::string& name, device::Launch launch) {
    entries.push_back(
        {device::Replayed(std::move(launch), name, replay == Replay::graph, stream.get()),
         {},
         {},
         0});
    return entries.size() - 1;
  }
  void flush_l2() { SWA_CUDA(cudaMemsetAsync(flush.get(), 0, flush.bytes(), stream.get())); }
  RoofGrid grid(LaunchGrid wanted) const {
    if (wanted.blocks == 0) return best_grid(facts.multiprocessors);
    return {static_cast<unsigned>(wanted.blocks), static_cast<unsigned>(wanted.threads)};
  }
  // Random bytes to read, and half as many to write.
  void need_roof_buffers(std::size_t bytes) {
    if (roof_from.bytes() > 0) return;
    roof_from = device::Buffer(bytes);
    roof_to = device::Buffer(bytes / 2 + 16);
    SWA_CUDA(device::fill_normal(roof_from.get(), Dtype::bf16, static_cast<Index>(bytes / 2),
                                 problem.seed, 9));
    SWA_CUDA(cudaDeviceSynchronize());
  }
};

GpuTimer::GpuTimer(const Problem& p, Replay replay) {
  const double needed = device::tensor_bytes(p, p.dtype);
  const auto spare = static_cast<double>(device::spare_bytes());
  if (needed > spare) {
    throw CannotRun(fmt::format("the tensors need {:.1f} GiB on the GPU, which has {:.1f} left",
                                needed / 0x1p30, spare / 0x1p30),
                    "ask for fewer tokens, heads or sequences");
  }
  state_ = std::make_unique<State>(p, replay);
}

GpuTimer::~GpuTimer() = default;

GpuTimer::Entry GpuTimer::add_kernel(const std::string& name) {
  State& s = *state_;
  GpuLaunch launch = gpu_kernel(name).prepare(s.problem, s.workspace);
  const ForwardParams params = s.tensors.params();
  const Entry entry =
      s.add(name, [launch, params](cudaStream_t stream) { return launch(params, stream); });
  s.entries[entry].kernel = name;
  s.entries[entry].launch = std::move(launch);
  return entry;
}

GpuTimer::Entry GpuTimer::add_empty(LaunchGrid grid) {
  return state_->add("the empty kernel",
                     [of = state_->grid(grid), shared = static_cast<std::size_t>(grid.smem_bytes)](
                         cudaStream_t stream) { return launch_empty(of, shared, stream); });
}

GpuTimer::Entry GpuTimer::add_read(LaunchGrid grid) {
  State& s = *state_;
  const auto bytes = static_cast<std::size_t>(roof_bytes());
  s.need_roof_buffers(bytes);
  return s.add("the read",
               [from = s.roof_from.get(), bytes, grid = s.grid(grid)](cudaStream_t stream) {
                 return launch_read(from, bytes, grid, stream);
               });
}

GpuTimer::Entry GpuTimer::add_copy(LaunchGrid grid) {
  State& s = *state_;
  const auto bytes = static_cast<std::size_t>(roof_bytes());
  s.need_roof_buffers(bytes);
  return s.add("the copy", [from = s.roof_from.get(), to = s.roof_to.get(), half = bytes / 2,
                            own = grid.blocks == 0, grid = s.grid(grid)](cudaStream_t stream) {
    if (own) return cudaMemcpyAsync(to, from, half, cudaMemcpyDeviceToDevice, stream);
    return launch_copy(to, from, half, grid, stream);
  });
}

GpuTimer::Entry GpuTimer::add_mma(const std::string& unit, double flops) {
  State& s = *state_;
  const MmaRoof roof = roof_of(unit, s.problem.dtype).value();
  const int multiprocessors = s.facts.multiprocessors;
  const auto seconds_of = [&](int iterations) {
    s.start.record(s.stream.get());
    device::require(launch_mma(roof, iterations, multiprocessors, s.stream.get()), unit.c_str());
    s.end.record(s.stream.get());
    return s.end.seconds_since(s.start);
  };
  seconds_of(1);
  const double wanted = flops / swa::mma_flops(roof, 1, multiprocessors);
  int iterations = static_cast<int>(std::clamp(wanted, 64.0, kMostIterations));
  while (seconds_of(iterations) < kLeastLoop && 2.0 * iterations <= kMostIterations) {
    iterations *= 2;
  }
  const Entry entry = s.add(unit, [=](cudaStream_t stream) {
    return launch_mma(roof, iterations, multiprocessors, stream);
  });
  s.entries[entry].mma_flops = swa::mma_flops(roof, iterations, multiprocessors);
  return entry;
}

double GpuTimer::roof_bytes() const {
  return std::clamp(least_traffic(state_->problem).total(), 64.0, kMostRoofBytes);
}

double GpuTimer::mma_flops(Entry entry) const {
  return state_->entries[entry].mma_flops;
}

SampleCheck GpuTimer::check(Entry entry) {
  State& s = *state_;
  const Prepared& prepared = s.entries[entry];
  s.tensors.poison_again();
  SWA_CUDA(cudaDeviceSynchronize());
  prepared.replayed.run();
  SWA_CUDA(cudaStreamSynchronize(s.stream.get()));
  return check_samples(s.problem, s.tensors.params(), gpu_kernel(prepared.kernel).sums);
}

double GpuTimer::time(Entry entry) {
  State& s = *state_;
  s.flush_l2();
  s.start.record(s.stream.get());
  s.entries[entry].replayed.run();
  s.end.record(s.stream.get());
  return s.end.seconds_since(s.start);
}

std::vector<double> GpuTimer::time_sustained(Entry entry, double seconds) {
  State& s = *state_;
  const double one = std::max(time(entry), 1e-6);
  constexpr int kParts = 20;
  const int replays = static_cast<int>(std::clamp(seconds / one / kParts, 1.0, 1e5));
  std::vector<double> times;
  for (int part = 0; part < kParts; ++part) {
    s.start.record(s.stream.get());
    for (int i = 0; i < replays; ++i) s.entries[entry].replayed.run();
    s.end.record(s.stream.get());
    const double each = s.end.seconds_since(s.start) / replays;
    if (part >= kParts / 2) times.push_back(each);
  }
  return times;
}

GpuCycles GpuTimer::count_cycles(Entry entry) {
  State& s = *state_;
  constexpr auto kNever = std::numeric_limits<unsigned long long>::max();
  std::vector<SmClock> clocks(kMostSmClocks, SmClock{kNever, 0, kNever, 0});
  if (s.clocks.bytes() == 0) s.clocks = device::Buffer(clocks.size() * sizeof(SmClock));
  s.clocks.upload(std::as_bytes(std::span(clocks)));
  ForwardParams params = s.tensors.params();
  params.clocks = static_cast<SmClock*>(s.clocks.get());
  s.flush_l2();
  device::require(s.entries[entry].launch(params, s.stream.get()), "a kernel with clocks");
  SWA_CUDA(cudaStreamSynchronize(s.stream.get()));
  s.clocks.download(std::as_writable_bytes(std::span(clocks)));
  GpuCycles most;
  for (const SmClock& clock : clocks) {
    if (clock.last_cycle <= clock.first_cycle) continue;
    const auto cycles = static_cast<double>(clock.last_cycle - clock.first_cycle);
    if (cycles <= most.cycles) continue;
    const auto ns = static_cast<double>(clock.last_ns - clock.first_ns);
    most = {cycles, ns > 0 ? cycles / ns * 1e9 : 0};
  }
  return most;
}

std::vector<GpuWork> gpu_work(const Problem& p) {
  std::vector<GpuWork> all;
  if (!gpu_absence().empty()) return all;
  const std::vector<LaunchPlan> plans = launch_plans(p, this_gpu());
  for (const GpuKernel& kernel : all_gpu_kernels()) {
    GpuWork work;
    work.kernel = kernel.name;
    work.for_use = kernel.for_use;
    work.unsupported = kernel.unsupported(p);
    if (!work.unsupported) {
      work.issued_pairs = kernel.issued_pairs(p);
      work.grid = grid_of(kernel.name, plans);
      work.mma = kernel.mma(p.dtype);
    }
    all.push_back(std::move(work));
  }
  return all;
}

std::vector<std::string> mma_units(Dtype dtype) {
  std::vector<std::string> units;
  for (const MmaRoof& roof : kMmaRoofs) {
    if (roof.dtype == dtype && has(roof)) units.emplace_back(name(roof.unit));
  }
  return units;
}

std::vector<std::string> gpu_kernel_names() {
  std::vector<std::string> names;
  if (!gpu_absence().empty()) return names;
  for (const GpuKernel& kernel : all_gpu_kernels()) names.push_back(kernel.name);
  return names;
}

std::vector<std::string> usual_gpu_kernels() {
  std::vector<std::string> names;
  if (!gpu_absence().empty()) return names;
  for (const GpuKernel& kernel : all_gpu_kernels()) {
    if (kernel.for_use) names.push_back(kernel.name);
  }
  return names;
}

}  // namespace swa
