/* A kernel of your own, judged by `swa verify --kernel plugin:./libmine.so`: a shared library with
 * one function, swa_plugin(). C89, C++ and CUDA; docs/plugin.md shows how to write one.
 *
 * swa calls it in a process of its own: with SWA_DESCRIBE to ask whether it takes a problem, then
 * with SWA_FORWARD to run it. Calls never overlap. What it prints goes to stderr.
 */
#ifndef SWA_PLUGIN_H
#define SWA_PLUGIN_H

#ifdef __cplusplus
extern "C" {
#endif

/* Changes where an older plug-in could not run any more. Members may be added to the end of the
 * struct without it: struct_size tells. */
#define SWA_PLUGIN_VERSION 1

/* C89 and C++98 name no type of 64 bits. swa runs on 64-bit Linux, where long is one, with a printf
 * format (%ld) and no extension; elsewhere the line after it does not compile. */
typedef long swa_int;
typedef char swa_int_has_64_bits[sizeof(swa_int) == 8 ? 1 : -1];

/* task */
#define SWA_DESCRIBE 1 /* declare, and say whether the problem is supported; no tensors */
#define SWA_FORWARD 2  /* write out, and lse where it is not NULL */

/* What swa_plugin() returns. */
#define SWA_OK 0
#define SWA_UNSUPPORTED 1 /* under SWA_DESCRIBE: this problem is not for me; `message` says why */
#define SWA_FAILED 2      /* `message` says why */

/* dtype: IEEE 754 binary64, binary32 and binary16, and bfloat16, in the machine's byte order */
#define SWA_FP64 1
#define SWA_FP32 2
#define SWA_BF16 3
#define SWA_FP16 4

/* layout */
#define SWA_PADDED 1 /* sequence s is batch entry s: its tokens, then padding (NaN) */
#define SWA_PACKED 2 /* one batch entry; sequence after sequence, without gaps (cu_seqlens) */

/* anchor: the absolute position of a sequence's first query, where its keys sit at 0, 1, ... */
#define SWA_BOTTOM_RIGHT 1 /* q_offset = keys - queries of the sequence: last query at last key */
#define SWA_TOP_LEFT 2     /* q_offset = 0 */

/* memory */
#define SWA_HOST 1
#define SWA_DEVICE 2 /* CUDA device pointers; a swa without CUDA ends with exit status 3 */

#define SWA_MESSAGE_BYTES 256

struct swa_attention {
  /* Set by swa: the version it speaks, and the bytes of the struct that it fills. The members up to
   * `message` are always there; a later one only where struct_size reaches beyond it. */
  int version;
  int struct_size;
  /* Set by the plug-in, in every call and before anything else: SWA_PLUGIN_VERSION and
   * sizeof(struct swa_attention). SWA_PLUGIN_BEGIN() below does it. */
  int built_version;
  int built_size;

  int task;

  /* Declared by the plug-in under SWA_DESCRIBE, supported or not, the same for every problem.
   * memory: where the tensors shall lie, SWA_HOST unless set.
   * no_lse: 1 where it computes no log-sum-exp; lse is NULL then. 0 unless set.
   * granule: isolation granule in keys. 1: a key outside a row's mask is never multiplied, not even
   * with a weight of 0. N: keys may be, in aligned blocks of N that hold a key the row sees. 0,
   * unless set: not stated. */
  int memory;
  int no_lse;
  swa_int granule;

  /* The problem. All sizes >= 1, sequences aside: those may hold 0 tokens. */
  int dtype; /* of q, k, v, sink_logits and out */
  int layout;
  int anchor;
  int has_sink_logits; /* 1 where sink_logits will be given, else 0 */
  swa_int batch;       /* sequences */
  swa_int heads_q;     /* a multiple of heads_kv; query head h reads key and value head */
  swa_int heads_kv;    /* h / (heads_q / heads_kv) */
  swa_int n_q;         /* queries of a sequence, at most; of the longest where packed */
  swa_int n_k;         /* keys of a sequence, at most; of the longest where packed */
  swa_int head_dim;    /* of q and k */
  swa_int head_dim_v;  /* of v and out */
  /* On the host, whatever `memory` says.
   * Queries and keys of each sequence, [batch], 0 included. Both NULL where each sequence has n_q
   * queries and n_k keys. */
  const swa_int* lengths_q;
  const swa_int* lengths_k;
  /* First token of each sequence in its tensor, and one past the last, [batch + 1]: sequence s has
   * tokens offsets[s] .. offsets[s + 1] - 1. Both NULL where padded. */
  const swa_int* offsets_q;
  const swa_int* offsets_k;

  /* The mask. Query row r of a sequence, counted from 0, sits at q = q_offset + r, which may be
   * negative. It sees key k, 0 <= k < keys of the sequence, exactly if
   *     (right == -1 or k <= q + right) and
   *     (k < sinks or ((left == -1 or k >= q - left) and (chunk == 0 or k / chunk == q / chunk)))
   * left, right: keys besides the query's own, inclusive, >= 0; -1 is unbounded. A causal window of
   * W keys, the query's own included, is left = W - 1, right = 0.
   * chunk: only with right = 0, so that q >= k >= 0 where it is divided. */
  swa_int left;
  swa_int right;
  swa_int chunk;  /* tokens of a chunk; 0: none */
  swa_int window; /* W where the mask is a causal window (left = W - 1, right = 0), else 0 */
  swa_int sinks;  /* sink tokens: keys that the left bound and the chunk do not hide */

  /* score = scale * q.k, then softcap * tanh(score / softcap) where softcap > 0, else as it is. */
  double scale;
  double softcap; /* 0: none */

  /* The tensors, dense and row-major; NULL under SWA_DESCRIBE. Entries is batch, and tokens n_q or
   * n_k, where padded; where packed, entries is 1 and tokens the sum of the lengths. */
  const void* q;           /* [entries, heads_q, tokens, head_dim] */
  const void* k;           /* [entries, heads_kv, tokens, head_dim] */
  const void* v;           /* [entries, heads_kv, tokens, head_dim_v] */
  const void* sink_logits; /* [heads_q], a further score in each row's softmax denominator that adds
                              no value; not scaled or capped. NULL: the problem has none */
  void* out;               /* [entries, heads_q, tokens, head_dim_v]. A row without keys is 0 */
  void* lse; /* [entries, heads_q, tokens], double where dtype is SWA_FP64, else float:
                ln of the softmax denominator, sink logit included; -inf for a row
                without keys and sink logit. NULL: not asked for */
  /* Elements from one batch entry, one head and one token to the next; dim has stride 1. */
  swa_int q_strides[3];
  swa_int k_strides[3];
  swa_int v_strides[3];
  swa_int out_strides[3];
  swa_int lse_strides[3];

  /* One line for people, ended by 0, where the call does not return SWA_OK. Empty before. */
  char message[SWA_MESSAGE_BYTES];

  /* Members that came later, or that a plug-in can do without. */
  swa_int max_threads; /* a hint: threads that a kernel should use on the CPU, >= 1 */
  void* stream;        /* SWA_DEVICE: the cudaStream_t to launch on; NULL: the default stream */
};

/* The first statement of a plug-in: says which header it was compiled with. */
#define SWA_PLUGIN_BEGIN(attention)                 \
  ((attention)->built_version = SWA_PLUGIN_VERSION, \
   (attention)->built_size = (int)sizeof(*(attention)))

/* The function of the plug-in. `attention` is never NULL and lives until it returns. It writes to
 * out, lse, message and what it declares, and to nothing else. */
int swa_plugin(struct swa_attention* attention);

#ifdef __cplusplus
}
#endif

#endif
