#!/usr/bin/env bash
# Builds swa where that is needed and runs it:  tools/run.sh ARGS…
# Standard output and the exit status are swa's own; tools/build.sh says what is set by
# environment variables, and what exit status 3 means before swa runs.
set -euo pipefail
# shellcheck source=tools/build.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/build.sh"

build_swa swa
exec "$build/tools/swa/swa" "$@"
