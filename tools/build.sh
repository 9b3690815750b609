#!/usr/bin/env bash
# Builds swa: installs the packages that are missing, configures, compiles.
#
#   tools/build.sh [TARGET…]      all targets when none is named
#
# run.sh and test.sh source this file and call build_swa. Everything said here goes to
# standard error. Exit status 3: swa could not be built, and a sentence says why.
#
#   SWA_BUILD_DIR    the folder to build in, instead of .build/release; with CUDA kernels
#                    the one beside it whose name ends with -cuda
#   SWA_CMAKE_ARGS   further CMake options, separated by spaces (-DSWA_SANITIZE=ON …)
#   SWA_ARCHS        GPUs to compile the CUDA kernels for; see tools/archs.sh
set -euo pipefail

packages=(g++ cmake ninja-build libcli11-dev libfmt-dev libeigen3-dev
          doctest-dev libtomlplusplus-dev nlohmann-json3-dev)

# The physical path, so that a call through a symbolic link finds the same build.
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
# shellcheck source=tools/archs.sh
source "$root/tools/archs.sh"

say() { printf 'swa: %s\n' "$*" >&2; }

# use_archs ARCHS: CUDA kernels for them, none where that is empty. They have a folder of
# their own, so that commands with and without them never compile each other's files again.
use_archs() {
  archs=$1
  build=$(realpath -m -- "${SWA_BUILD_DIR:-$root/.build/release}")${archs:+-cuda}
  lock=$build/.swa-lock
  stamp=$build/.swa-stamp
  log=$build/.swa-log
}
use_archs "$(archs_asked_for)"

fail() {
  say "$*"
  exit 3
}

fail_with_log() {
  cat -- "$log" >&2
  fail "$@"
}

# Makes the folder and takes its lock (descriptor 9), so that calls at the same time
# build one after the other.
open_folder() {
  # This script empties the folder before it configures: it must not be someone's own.
  if [[ $build != "$root"/.build/* && ! -e $lock && -n $(ls -A -- "$build" 2>/dev/null) ]]; then
    fail "SWA_BUILD_DIR names $build, which holds other files: name a new or empty folder"
  fi
  if ! mkdir -p -- "$build" 2>/dev/null || [[ ! -w $build ]] ||
    ! { true >>"$lock"; } 2>/dev/null; then
    fail "cannot write to $build: make it writable, or set SWA_BUILD_DIR to a folder" \
      "that is (for example SWA_BUILD_DIR=~/.cache/swa)"
  fi
  command -v flock >/dev/null || fail "the command flock is missing: install util-linux"
  exec 9>>"$lock"
  if ! flock --timeout 2 9; then
    say "waiting for another build in $build"
    flock 9
  fi
}

# Sets `missing` to those of the named packages that are not installed, and `installed` to
# the versions of the others.
look_for_packages() {
  local state name version
  local -A found=()
  installed=$(dpkg-query --show \
    --showformat '${db:Status-Abbrev} ${Package} ${Version} ${Architecture}\n' \
    "$@" 2>/dev/null || true)
  while read -r state name version; do
    # The second letter is the state the package is in; 'hi', say, is installed and held.
    if [[ $state == ?i ]]; then found[$name]=$version; fi
  done <<<"$installed"
  missing=()
  for name in "$@"; do
    if [[ -z ${found[$name]:-} ]]; then missing+=("$name"); fi
  done
}

# Runs a command as root. sudo drops the environment, so what apt needs of it is handed on;
# dpkg needs the sbin folders, which a root shell made by a plain su does not name.
as_root() {
  local name
  local -a sudo=()
  local -a settings=(DEBIAN_FRONTEND=noninteractive LC_ALL=C "PATH=$PATH:/usr/sbin:/sbin")
  for name in http_proxy https_proxy no_proxy; do
    if [[ -n ${!name:-} ]]; then settings+=("$name=${!name}"); fi
  done
  if ((EUID != 0)); then
    sudo=(sudo)
    # Where nobody can type a password, sudo must fail instead of waiting for one.
    if [[ ! -t 0 || -n ${CI:-} ]]; then sudo+=(--non-interactive); fi
  fi
  # Without descriptor 9, a service that a package starts cannot keep the lock.
  "${sudo[@]}" env "${settings[@]}" "$@" 9>&-
}

apt_get() { as_root apt-get -o DPkg::Lock::Timeout=600 "$@" </dev/null >>"$log" 2>&1; }

# apt waits for dpkg's lock by itself, but not for the lock of the package lists.
update_lists() {
  local _
  for _ in {1..60}; do
    : >"$log"
    if apt_get update; then return; fi
    if ! grep -q 'Could not get lock' "$log"; then break; fi
    sleep 5
  done
  # The lists that are there may do; if not, the install that follows fails and says so.
  say "apt-get update failed (see $log), going on with the package lists that are here"
}

install_packages() {
  local by_hand="install by hand: apt-get install $*"
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      fail "packages are missing and this is neither root nor is there sudo; $by_hand"
    as_root true || fail "packages are missing and sudo refused; $by_hand"
  fi
  say "installing with apt: $*"
  update_lists
  # An apt that was cut off leaves packages half set up, and then refuses to install more.
  as_root dpkg --configure -a </dev/null >>"$log" 2>&1 || true
  apt_get install --yes --no-install-recommends "$@" ||
    fail_with_log "apt could not install the packages (Debian 12 or Ubuntu 24.04 and later" \
      "have them all); $by_hand"
}

ensure_packages() {
  if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    look_for_packages "${packages[@]}"
    if ((${#missing[@]} == 0)); then return; fi
    install_packages "${missing[@]}"
    look_for_packages "${packages[@]}"
    return
  fi
  # Elsewhere nothing is installed; CMake finds or misses the libraries.
  installed=
  local tool
  for tool in c++ cmake ninja; do
    command -v "$tool" >/dev/null ||
      fail "the command $tool is missing, and this system has no apt to install it with;" \
        "needed are the counterparts of Debian's ${packages[*]}"
  done
}

# Everything the build was made from that ninja does not watch.
describe_build() {
  printf '%s\n' "$root" "$build" "${SWA_CMAKE_ARGS:-}" \
    "${CXX:-}" "${CXXFLAGS:-}" "${LDFLAGS:-}" "$installed" "$archs"
  if [[ -n $archs ]]; then
    printf '%s\n' "${CUDACXX:-}" "${CUDAFLAGS:-}"
    "$(find_nvcc)" --version 2>/dev/null || true
  fi
}

# A moved or copied tree, other options, another compiler or a configure that was cut off:
# all start from an empty folder. A build that was cut off keeps its stamp and goes on.
configure() {
  local wanted
  local -a extra
  wanted=$(describe_build)
  if [[ -e $stamp && -e $build/build.ninja && $(<"$stamp") == "$wanted" ]]; then return; fi

  find "$build" -mindepth 1 -maxdepth 1 ! -name .swa-lock -exec rm -rf -- {} +
  # A file dated in the future (an archive from a machine whose clock is ahead) would make
  # ninja run CMake again and again.
  find "$root" \( -name .git -o -name .build -o -path "$build" \) -prune \
    -o -type f -newermt now -exec touch -- {} + 2>/dev/null || true

  read -r -d '' -a extra <<<"${SWA_CMAKE_ARGS:-}" || true
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DSWA_ARCHS=$archs" "${extra[@]}" \
    </dev/null >"$log" 2>&1 || fail_with_log "CMake could not configure the build"
  printf '%s\n' "$wanted" >"$stamp"
}

# A compiler here may take a gigabyte: no more of them at once than fit into memory.
jobs_that_fit() {
  local cores gib
  cores=$(nproc)
  gib=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo 2>/dev/null || true)
  gib=${gib:-$cores}
  if ((gib < 1)); then gib=1; fi
  echo $((gib < cores ? gib : cores))
}

# Keeps ninja's output in the log and says once that there is something to build.
follow_ninja() {
  local line said=
  while IFS= read -r line; do
    printf '%s\n' "$line"
    if [[ -z $said && $line == \[* && $line != *Re-checking* ]]; then
      say 'building (the first time takes some minutes)'
      said=1
    fi
  done >"$log"
}

compile() {
  NINJA_STATUS='[%f/%t] ' ninja -C "$build" -j "$(jobs_that_fit)" "$@" </dev/null 2>&1 |
    follow_ninja || fail_with_log 'the build failed'
}

# build_swa [TARGET…]
build_swa() {
  open_folder
  ensure_packages
  configure
  compile "$@"
  exec 9>&-
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then build_swa "$@"; fi
