/* What libswa_portable.so offers besides swa_plugin(), to programs that have their tensors on the
 * GPU: its kernels, the inputs of `swa bench` and the oracle of `swa verify`. C89; tools/peers
 * calls it from Python. */
#ifndef SWA_LIBRARY_H
#define SWA_LIBRARY_H

#include "verify/swa_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All return SWA_OK, or SWA_FAILED with `message` set. The struct is that of SWA_FORWARD, with
 * pointers on the device and strides as they are. Other than with swa_plugin(), sink_logits are
 * float, as serving systems hold them. */

/* Launches on call->stream. A call that differs from the one before in its pointers alone allocates
 * and copies nothing, so that it can be captured in a graph. */
int swa_forward(struct swa_attention* call);

/* The kernel that swa_forward() would launch, such as "portable-prefill"; NULL, with `message` set,
 * where none takes the call. */
const char* swa_kernel(struct swa_attention* call);

struct swa_check_result {
  int struct_size; /* set by the caller: sizeof(struct swa_check_result) */
  int pass;
  swa_int rows;       /* compared, over sequences and heads */
  swa_int nonfinite;  /* NaN, infinite or unwritten, of all elements of out */
  swa_int mismatches; /* elements out of their bound, of those rows; rows whose lse is wrong */
  double error;       /* of the element that takes the largest share of its bound */
  double bound;
  char message[SWA_MESSAGE_BYTES]; /* what is wrong; empty where it passes */
};
/* Judges call->out, and call->lse where it is not NULL, as sample_check.hpp says. */
int swa_check(struct swa_attention* call, struct swa_check_result* result);

/* Fills `count` elements of a dtype of swa_plugin.h with standard normal numbers that depend on
 * seed and stream alone: of `swa bench`, q is stream 0, k 1, v 2 and the sink logits (SWA_FP32) 3,
 * each [batch, tokens, heads, dim]. On the default stream. */
int swa_random_normal(void* to, int dtype, swa_int count, unsigned long seed, unsigned stream);

#ifdef __cplusplus
}
#endif

#endif
