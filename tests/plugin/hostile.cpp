// A plug-in that does what SWA_HOSTILE says, and is right otherwise. "MODE" misbehaves in
// SWA_FORWARD, "describe-MODE" in SWA_DESCRIBE, "load-MODE" while it is loaded. With SWA_HOSTILE_W
// set only problems with that window meet it.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "attention.h"

namespace {

const std::string kMode = getenv("SWA_HOSTILE") == nullptr ? "" : getenv("SWA_HOSTILE");

bool concerned(const swa_attention* a) {
  const char* window = getenv("SWA_HOSTILE_W");
  return window == nullptr || a->window == atol(window);
}

void note_process(pid_t process) {
  const char* path = getenv("SWA_HOSTILE_NOTES");
  FILE* file = path == nullptr ? nullptr : fopen(path, "a");
  if (file == nullptr) return;
  fprintf(file, "%d\n", static_cast<int>(process));
  fclose(file);
}

[[noreturn]] void hang() {
  note_process(getpid());
  for (;;) pause();
}

void fork_and(bool linger) {
  const pid_t child = fork();
  if (child == 0 && linger) {
    for (;;) pause();
  }
  if (child == 0) _exit(0);
  if (linger) {
    note_process(child);
  } else {
    waitpid(child, nullptr, 0);
  }
}

// Without a tensor to misuse.
void misbehave(const std::string& mode) {
  if (mode == "throw") throw std::runtime_error("no tile for this shape");
  if (mode == "throw-int") throw 7;
  if (mode == "segv") raise(SIGSEGV);
  if (mode == "null") *static_cast<volatile int*>(nullptr) = 1;
  if (mode == "fpe") raise(SIGFPE);
  if (mode == "abort") abort();
  if (mode == "exit") exit(3);
  if (mode == "_exit") _exit(0);
  if (mode == "kill") raise(SIGKILL);
  if (mode == "stop") raise(SIGSTOP);
  if (mode == "hang") hang();
  if (mode == "spin") {
    for (volatile int busy = 1; busy;) {
    }
  }
  if (mode == "close") {
    for (int number = 0; number < 1024; ++number) close(number);
  }
  if (mode == "reopen") {
    for (int number = 3; number < 64; ++number) {
      close(number);
      open("/dev/null", O_RDWR);
    }
  }
  if (mode == "print") {
    printf("hello from stdout\n");
    fprintf(stderr, "hello from stderr\n");
  }
  if (mode == "fork") fork_and(false);
  if (mode == "fork-linger") fork_and(true);
  if (mode == "fork-hang") {
    fork_and(true);
    hang();
  }
  if (mode == "fork-return") fork();
  if (mode == "allocate") {
    std::vector<char*> blocks;
    for (;;) {
      blocks.push_back(static_cast<char*>(malloc(1 << 20)));
      memset(blocks.back(), 1, 1 << 20);
    }
  }
}

// Elements of q and out are fp32 here.
void misuse(const std::string& mode, swa_attention* a) {
  float* out = static_cast<float*>(a->out);
  const swa_int size = a->batch * a->out_strides[0];
  if (mode == "past-out") out[size + 11] = 1;
  if (mode == "before-out") out[-1] = 1;
  if (mode == "past-lse") static_cast<float*>(a->lse)[a->batch * a->lse_strides[0]] = 1;
  if (mode == "far-past-out") memset(out + size, 0, 64 << 10);
  if (mode == "write-k") const_cast<float*>(static_cast<const float*>(a->k))[a->head_dim + 2] = 7;
  if (mode == "write-lengths") const_cast<swa_int*>(a->lengths_q)[1] = 1;
  if (mode == "message") memset(a->message, 'x', sizeof a->message);
  if (mode == "lines") strcpy(a->message, "one\ntwo\033[31m");
}

const bool kLoaded = [] {
  if (kMode.rfind("load-", 0) == 0) misbehave(kMode.substr(5));
  return true;
}();

}  // namespace

extern "C" int swa_plugin(swa_attention* a) {
  SWA_PLUGIN_BEGIN(a);
  if (kMode == "no-begin") a->built_version = a->built_size = 0;
  if (kMode == "version") a->built_version = 2;
  if (kMode == "short-struct") a->built_size = 64;
  if (kMode == "long-struct") a->built_size += 8;
  if (kMode == "granule") a->granule = -5;
  if (kMode == "memory") a->memory = 9;
  if (kMode == "device") a->memory = SWA_DEVICE;
  if (kMode == "no-lse") a->no_lse = 1;
  if (a->task == SWA_DESCRIBE) {
    if (kMode.rfind("describe-", 0) == 0 && concerned(a)) misbehave(kMode.substr(9));
    if (kMode == "describe-code") return 12;
    if (kMode == "refuse" && concerned(a)) {
      strcpy(a->message, "head_dim must be 128");
      return SWA_UNSUPPORTED;
    }
    return SWA_OK;
  }
  if (!concerned(a)) return attend(a);
  if (kMode == "nothing") return SWA_OK;
  if (kMode == "no-lse" && a->lse != nullptr) return SWA_FAILED;
  misbehave(kMode);
  attend(a);
  misuse(kMode, a);
  if (kMode == "code") return -1;
  if (kMode == "late-refusal") return SWA_UNSUPPORTED;
  if (kMode == "fail" || kMode == "message" || kMode == "lines") return SWA_FAILED;
  return SWA_OK;
}
