// The process that a plug-in runs in.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "verify/plugin.hpp"
#include "verify/plugin_wire.hpp"

namespace swa {
namespace {

using Function = int (*)(swa_attention*);

// A descriptor that the plug-in may have closed, or opened for something else.
class Inherited {
 public:
  explicit Inherited(int number) : number_(number), open_(fstat(number, &opened_) == 0) {}
  int number() const { return number_; }
  bool intact() const {
    struct stat now {};
    return open_ && fstat(number_, &now) == 0 && now.st_dev == opened_.st_dev &&
           now.st_ino == opened_.st_ino;
  }

 private:
  int number_;
  struct stat opened_ {};
  bool open_;
};

void set_text(Reply& reply, std::string_view text) {
  const std::size_t size = std::min(text.size(), reply.text.size() - 1);
  text.copy(reply.text.data(), size);
}

class Host {
 public:
  Host(int control, int shared, MakeDeviceMirror device)
      : control_(control), shared_(shared), make_mirror_(std::move(device)) {
    first_page_ = static_cast<FirstPage*>(map(kPage));
  }

  bool usable() const { return first_page_ != nullptr && control_.intact(); }

  // Until swa closes its end.
  int serve(const char* library) {
    first_page_->inside = 1;
    Reply loaded;
    const Function function = load(library, loaded);
    first_page_->inside = 0;
    if (!answer(loaded) || function == nullptr) return 1;
    Request request;
    while (control_.intact() &&
           recv(control_.number(), &request, sizeof request, 0) == sizeof request) {
      if (!receive_memory(request.shared_bytes) || !answer(call(function, request))) return 1;
    }
    return 0;
  }

 private:
  void* map(std::size_t bytes) const {
    if (!shared_.intact()) return nullptr;
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared_.number(), 0);
    return at == MAP_FAILED ? nullptr : at;
  }

  bool receive_memory(std::size_t bytes) {
    if (bytes == tensor_bytes_) return true;
    if (tensors_ != nullptr) munmap(tensors_, tensor_bytes_);
    tensors_ = static_cast<std::byte*>(map(bytes));
    tensor_bytes_ = bytes;
    return tensors_ != nullptr;
  }

  bool answer(const Reply& reply) const {
    return control_.intact() &&
           send(control_.number(), &reply, sizeof reply, MSG_NOSIGNAL) == sizeof reply;
  }

  static Function load(const char* library, Reply& reply) {
    reply.outcome = Outcome::not_loaded;
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* why = dlerror();
      set_text(reply, why == nullptr ? "no reason is given" : why);
      return nullptr;
    }
    void* symbol = dlsym(handle, "swa_plugin");
    if (symbol == nullptr) {
      set_text(reply, "it has no function swa_plugin (C++ needs extern \"C\")");
      return nullptr;
    }
    reply.outcome = Outcome::loaded;
    return reinterpret_cast<Function>(symbol);
  }

  Reply call(Function function, const Request& request) {
    // A plug-in that was compiled with a longer struct finds zeros behind ours.
    alignas(swa_attention) std::array<std::byte, sizeof(swa_attention) + kPage> room{};
    auto* attention = new (room.data()) swa_attention(request.attention);
    const bool on_device = request.attention.task == SWA_FORWARD && wants_device_;
    const pid_t self = getpid();
    Reply reply;
    reply.outcome = Outcome::returned;
    first_page_->inside = 1;
    try {
      set_pointers(*attention, request.offsets, on_device ? mirror_tensors() : tensors_);
      reply.returned = function(attention);
      if (on_device) mirror_->download(tensors_ + kPage, tensor_bytes_ - kPage);
    } catch (const std::exception& error) {
      reply.outcome = Outcome::threw;
      set_text(reply, error.what());
    } catch (...) {
      reply.outcome = Outcome::threw;
    }
    if (getpid() != self) _exit(0);  // a copy that the plug-in forked, and that came back too
    first_page_->inside = 0;
    std::fflush(nullptr);
    siginfo_t info{};
    const bool has_child = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    if (has_child && reply.outcome == Outcome::returned) reply.outcome = Outcome::left_child;
    reply.attention = *attention;
    if (request.attention.task == SWA_DESCRIBE) wants_device_ = attention->memory == SWA_DEVICE;
    return reply;
  }

  // Tensors and guard bands, all but the first page, which is not the plug-in's. Returns where the
  // first page would lie.
  std::byte* mirror_tensors() {
    if (!mirror_ && make_mirror_) mirror_ = make_mirror_();
    if (!mirror_) throw std::runtime_error("there is no device");
    return mirror_->upload(tensors_ + kPage, tensor_bytes_ - kPage) - kPage;
  }

  // The arrays of the sequences stay on the host.
  void set_pointers(swa_attention& a, const std::array<std::size_t, kSlots>& offsets,
                    std::byte* tensors) const {
    const auto within = [&](std::byte* memory, Slot slot) {
      const std::size_t offset = offsets[static_cast<std::size_t>(slot)];
      return offset == 0 ? nullptr : memory + offset;
    };
    const auto numbers = [&](Slot slot) {
      return reinterpret_cast<const swa_int*>(within(tensors_, slot));
    };
    const auto at = [&](Slot slot) { return within(tensors, slot); };
    a.lengths_q = numbers(Slot::lengths_q);
    a.lengths_k = numbers(Slot::lengths_k);
    a.offsets_q = numbers(Slot::offsets_q);
    a.offsets_k = numbers(Slot::offsets_k);
    a.q = at(Slot::q);
    a.k = at(Slot::k);
    a.v = at(Slot::v);
    a.sink_logits = at(Slot::sink_logits);
    a.out = at(Slot::out);
    a.lse = at(Slot::lse);
  }

  Inherited control_, shared_;
  MakeDeviceMirror make_mirror_;
  std::unique_ptr<DeviceMirror> mirror_;
  bool wants_device_ = false;  // as its last SWA_DESCRIBE said
  FirstPage* first_page_ = nullptr;
  std::byte* tensors_ = nullptr;
  std::size_t tensor_bytes_ = 0;
};

// Ends this process and what the plug-in started when swa is gone, however it went. A descriptor
// could not tell, as the plug-in may close it; nor could PR_SET_PDEATHSIG, which goes by the thread
// that started this process and reaches no other.
void end_with(pid_t parent) {
  std::thread([parent] {
    while (getppid() == parent) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    kill(-getpid(), SIGKILL);
  }).detach();
}

void prepare(pid_t parent) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // also what the plug-in starts at second hand is seen
  // Where a runtime library handles crashes by exit(), nobody would hear of the signal.
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(number, SIG_DFL);
  // This process is not in the terminal's foreground; it may write there all the same.
  std::signal(SIGTTOU, SIG_IGN);
  // Where memory runs out, the kernel ends this process before swa.
  if (const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); file >= 0) {
    [[maybe_unused]] const ssize_t written = write(file, "1000", 4);
    close(file);
  }
  end_with(parent);
}

int number_of(std::string_view text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

bool is_plugin_host(int argc, char** argv) {
  return argc > 1 && std::strcmp(argv[1], kPluginHost) == 0;
}

int run_plugin_host(int argc, char** argv, const MakeDeviceMirror& device) {
  if (argc == 6 && getpgrp() == getpid()) {  // whose group it is ends with it
    Host host(number_of(argv[2]), number_of(argv[3]), device);
    if (host.usable()) {
      prepare(number_of(argv[4]));
      // No destructor of the plug-in runs: it may hang or crash there.
      _exit(host.serve(argv[5]));
    }
  }
  std::fprintf(stderr, "%s: is for the process that swa starts for a plug-in\n", kPluginHost);
  return 2;
}

}  // namespace swa
