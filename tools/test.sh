#!/usr/bin/env bash
# Builds everything and runs the tests:  tools/test.sh [arguments of ctest]
# Standard output and the exit status are ctest's; tools/build.sh says what is set by
# environment variables, and what exit status 3 means before ctest runs.
set -euo pipefail
# shellcheck source=tools/build.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/build.sh"

build_swa
# No test at all is a mistake in the filter or in the build, not a success.
exec ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$(nproc)" "$@"
