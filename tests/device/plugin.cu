// A plug-in in CUDA, on device pointers: one thread an element of the output, fp32, one length.
#include <cmath>
#include <cstring>

#include "verify/swa_plugin.h"

__device__ bool sees(const swa_attention& a, swa_int q, swa_int k) {
  if (a.right != -1 && k > q + a.right) return false;
  if (k < a.sinks) return true;
  if (a.left != -1 && k < q - a.left) return false;
  return a.chunk == 0 || k / a.chunk == q / a.chunk;
}

// Grid: rows of a head, heads of the batch. Block: elements of a value.
__global__ void attend(swa_attention a, swa_int q_offset) {
  const swa_int row = blockIdx.x, b = blockIdx.y / a.heads_q, h = blockIdx.y % a.heads_q;
  const swa_int kv = h / (a.heads_q / a.heads_kv);
  const float* q = static_cast<const float*>(a.q) + b * a.q_strides[0] + h * a.q_strides[1] +
                   row * a.q_strides[2];
  const float* k = static_cast<const float*>(a.k) + b * a.k_strides[0] + kv * a.k_strides[1];
  const float* v = static_cast<const float*>(a.v) + b * a.v_strides[0] + kv * a.v_strides[1];
  float* out = static_cast<float*>(a.out) + b * a.out_strides[0] + h * a.out_strides[1] +
               row * a.out_strides[2];
  float highest = -INFINITY, sum = 0, value = 0;
  for (swa_int key = 0; key < a.n_k; ++key) {
    if (!sees(a, q_offset + row, key)) continue;
    float score = 0;
    for (swa_int d = 0; d < a.head_dim; ++d) score += q[d] * k[key * a.k_strides[2] + d];
    score *= static_cast<float>(a.scale);
    const float now = fmaxf(highest, score), shrink = expf(highest - now);
    const float weight = expf(score - now);
    sum = sum * shrink + weight;
    value = value * shrink + weight * v[key * a.v_strides[2] + threadIdx.x];
    highest = now;
  }
  out[threadIdx.x] = sum > 0 ? value / sum : 0;
}

static int no(swa_attention* a, int status, const char* why) {
  std::strncpy(a->message, why, sizeof a->message - 1);
  return status;
}

extern "C" int swa_plugin(swa_attention* a) {
  SWA_PLUGIN_BEGIN(a);
  a->memory = SWA_DEVICE;
  a->no_lse = 1;
  a->granule = 1;
  const bool plain = a->dtype == SWA_FP32 && a->lengths_q == nullptr && a->softcap == 0 &&
                     !a->has_sink_logits && a->head_dim_v <= 1024 && a->batch * a->heads_q < 65536;
  if (!plain) return no(a, SWA_UNSUPPORTED, "fp32 of one length, no softcap and no sink logits");
  if (a->task == SWA_DESCRIBE) return SWA_OK;
  const swa_int q_offset = a->anchor == SWA_BOTTOM_RIGHT ? a->n_k - a->n_q : 0;
  const dim3 grid(static_cast<unsigned>(a->n_q), static_cast<unsigned>(a->batch * a->heads_q));
  attend<<<grid, static_cast<unsigned>(a->head_dim_v)>>>(*a, q_offset);
  const cudaError_t trouble = cudaDeviceSynchronize();
  return trouble == cudaSuccess ? SWA_OK : no(a, SWA_FAILED, cudaGetErrorString(trouble));
}
