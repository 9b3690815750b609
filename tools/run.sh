#!/usr/bin/env bash
# Builds swa where that is needed and runs it:  tools/run.sh ARGS…
# CUDA kernels are built for the GPUs that are here or that SWA_ARCHS names, and only for the
# commands that use them. Standard output and the exit status are swa's own; tools/build.sh
# says what is set by environment variables, and what exit status 3 means before swa runs.
set -euo pipefail
# shellcheck source=tools/build.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/build.sh"

use_archs "$(archs_for "$@")"
build_swa swa
exec "$build/tools/swa/swa" "$@"
