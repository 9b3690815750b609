#!/usr/bin/env bash
# Which GPUs the CUDA kernels are compiled for. build.sh sources this file.
#
#   SWA_ARCHS   compute capabilities such as '80;90a' or 80,90a; `all`; or `none`

find_nvcc() {
  command -v "${CUDACXX:-nvcc}" ||
    { [[ -x /usr/local/cuda/bin/nvcc ]] && echo /usr/local/cuda/bin/nvcc; }
}

# What SWA_ARCHS asks for; nothing where it is not set or says none.
archs_asked_for() {
  if [[ ${SWA_ARCHS:-none} != none ]]; then printf '%s\n' "${SWA_ARCHS//,/;}"; fi
}

# Whether a command line of swa runs the CUDA kernels, or tells of them and of the GPUs.
uses_kernels() {
  case ${1:-} in
    verify | bench | kernels | reproduce) ;;
    trap-demo) [[ " $* " =~ ' '--kernel[\ =] ]] ;;
    -*) [[ " $* " =~ ' '(--version|--devices|--words)[\ =] ]] ;;
    *) return 1 ;;
  esac
}

# The compute capabilities of the GPUs here, each once and on a line, such as 8.0.
gpus_here() {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    grep -Ex '[0-9]+\.[0-9]' | sort -u || true
}

# The GPUs here as SWA_ARCHS would name them, without those that cannot be compiled for: of these a
# line on standard error tells.
archs_here() {
  local gpu arch nvcc known='' archs=''
  local -a gpus
  mapfile -t gpus < <(gpus_here)
  if ((${#gpus[@]} == 0)); then return; fi
  if ! nvcc=$(find_nvcc); then
    say 'the CUDA kernels are not built: there is a GPU, but nvcc is neither on PATH nor in' \
      '/usr/local/cuda/bin'
    return
  fi
  known=$("$nvcc" --list-gpu-code 2>/dev/null || true)
  for gpu in "${gpus[@]}"; do
    arch=${gpu/./}
    if ((arch < 80)); then
      say "no CUDA kernels are built for the GPU of compute capability $gpu: they need 8.0"
    elif ! grep -qx "sm_$arch" <<<"$known"; then
      say "no CUDA kernels are built for the GPU of compute capability $gpu: $nvcc does not know it"
    else
      # The kernels for Hopper use what only 90a has.
      archs+=${archs:+;}${arch/#90/90a}
    fi
  done
  printf '%s\n' "$archs"
}

# archs_for ARGS…: what a command line of swa needs built.
archs_for() {
  if ! uses_kernels "$@"; then return; fi
  if [[ -n ${SWA_ARCHS:-} ]]; then
    archs_asked_for
    return
  fi
  local archs
  archs=$(archs_here)
  # What is asked about is the machine code, which needs no GPU.
  if [[ -z $archs && $1 == kernels ]] && find_nvcc >/dev/null; then archs='80;90a'; fi
  printf '%s\n' "$archs"
}
