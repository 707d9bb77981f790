# shellcheck shell=bash
# What every script here shares: messages, packages, configuring and building. Source it, do not run it.
# After sourcing, the working directory is the root of the checkout.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT" || exit 1

if [[ -t 2 && -z "${NO_COLOR:-}" ]]; then
  C_BOLD=$'\e[1m' C_RED=$'\e[31m' C_DIM=$'\e[2m' C_OFF=$'\e[0m'
else
  C_BOLD='' C_RED='' C_DIM='' C_OFF=''
fi

# All messages go to stderr, so that the output of what a script runs stays clean.
step() { printf '%s==>%s %s\n' "$C_BOLD" "$C_OFF" "$*" >&2; }
note() { printf '%s    %s%s\n' "$C_DIM" "$*" "$C_OFF" >&2; }

# die WHAT [HINT...]: what failed, then one line for each thing the reader can do about it.
die() {
  printf '%serror:%s %s\n' "$C_RED" "$C_OFF" "$1" >&2
  shift
  local hint
  for hint in "$@"; do printf '       %s\n' "$hint" >&2; done
  exit 1
}

usage_error() {
  printf '%serror:%s %s\n' "$C_RED" "$C_OFF" "$1" >&2
  printf '       scripts/%s --help lists what it accepts.\n' "$(basename "$0")" >&2
  exit 2
}

# The comment block under a script's first line is its help text.
print_help() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; }

jobs_count() { echo "${VESTA_JOBS:-$(nproc)}"; }

# What clang-tidy is run on for a file: a header is read by its source, its test, or else the first source that includes
# it, whose compile command knows the generated headers that it needs.
source_of() {
  local file="$1" stem="${1%.*}" candidate
  if [[ "$file" == *.h ]]; then
    for candidate in "$stem.cc" "${stem}_test.cc" \
      "$(git grep --untracked -lF "#include \"${file#src/}\"" -- 'src/*.cc' | sed -n 1p)"; do
      [[ -f "$candidate" ]] && echo "$candidate" && return
    done
  fi
  echo "$file"
}

# The package names of the given lists. A list has one name per line; `name ?command` means: only when that command is
# not on PATH already, so that a Go or Node.js from elsewhere is used as it is and Debian's cannot collide with it.
wanted_packages() {
  local list name condition
  for list in "$@"; do
    while read -r name condition; do
      [[ -z "$name" || "$name" == \#* ]] && continue
      if [[ "$condition" == \?* ]]; then
        condition="${condition#\?}"
        command -v "${condition%%[[:space:]]*}" >/dev/null && continue
      fi
      echo "$name"
    done <"$list"
  done
}

# install_packages LIST...: installs what is missing from the given lists; one dpkg-query when nothing is.
install_packages() {
  local -a wanted missing
  mapfile -t wanted < <(wanted_packages "$@" | sort -u)
  ((${#wanted[@]})) || return 0
  if ! command -v dpkg-query >/dev/null; then
    note "this is not a Debian system: packages are not checked (needed: ${wanted[*]})"
    return 0
  fi
  # dpkg-query fails when it does not know a name, which is an answer here and not an error.
  mapfile -t missing < <(comm -23 <(printf '%s\n' "${wanted[@]}") <(
    dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
      sed -n 's/^installed //p' | sort -u
  ))
  ((${#missing[@]})) || return 0

  local -a as_root=()
  local manual="apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  if ((EUID != 0)); then
    # Without a terminal sudo must not ask for a password: nobody would answer.
    if command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
    else
      die "these Debian packages are missing: ${missing[*]}" "run this as root, then try again:" "  $manual"
    fi
  fi
  step "installing Debian packages: ${missing[*]}"
  mkdir -p build/logs
  local log=build/logs/packages.log
  local -a apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    die "installing packages failed (all of it: $log)" "to try by hand, as root:" "  $manual"
  fi
}

# npm_packages FOLDER: installs what the folder's package-lock.json says, when that changed since it last was. Not by
# `npm ci`: it refuses a lock file without the packages for other systems that a mirror of the registry may lack.
npm_packages() {
  [[ "$1/package-lock.json" -nt "$1/node_modules/.package-lock.json" ]] || return 0
  step "installing the npm packages of $1"
  (cd "$1" && npm install --no-save --no-audit --no-fund --loglevel=error >&2) || die "npm install failed in $1"
}

# note_time SECONDS WHAT: for the list of the slowest that .ci/run ends with.
note_time() {
  mkdir -p build/logs
  printf '%s %s\n' "$1" "$2" >>build/logs/times.txt
}

preset_dir() { if [[ "$1" == release ]]; then echo build; else echo "build/$1"; fi; }

# configure PRESET: runs CMake when this preset has not been configured, was configured in another place, or the presets
# changed. Changes to CMakeLists.txt files are ninja's business.
configure() {
  local preset="$1" dir log
  dir="$(preset_dir "$preset")"
  if [[ -f "$dir/build.ninja" && "$dir/.configured" -nt CMakePresets.json &&
    "$(cat "$dir/.configured")" == "$ROOT" ]]; then
    return 0
  fi
  step "configuring ($preset)"
  mkdir -p "$dir" build/logs
  log="build/logs/configure-$preset.log"
  local -a fresh=()
  # A checkout that was moved or copied has the old path all over its cache.
  [[ -f "$dir/.configured" && "$(cat "$dir/.configured")" == "$ROOT" ]] || fresh=(--fresh)
  if ! cmake "${fresh[@]}" --preset "$preset" >"$log" 2>&1; then
    grep -A 12 'CMake Error' "$log" >&2 || tail -n 20 "$log" >&2
    die "cmake could not configure the preset '$preset' (all of it: $log)" \
      "a library that is not found: scripts/setup installs what scripts/packages/build.txt lists"
  fi
  echo "$ROOT" >"$dir/.configured"
}

# build PRESET [TARGET...]: builds the targets (all of them by default), showing ninja's progress on a terminal and only
# failures elsewhere.
build() {
  local preset="$1" dir started=$SECONDS
  shift
  dir="$(preset_dir "$preset")"
  configure "$preset"
  # Say nothing when there is nothing to do. (Where tests are found by glob, ninja cannot tell before it has looked.)
  if ninja -C "$dir" -n "$@" 2>/dev/null | grep -q 'no work to do'; then return 0; fi
  step "building ($preset)"
  local -a ninja=(ninja -C "$dir" -j "$(jobs_count)")
  if [[ -t 2 ]]; then
    "${ninja[@]}" "$@" >&2
  else
    "${ninja[@]}" --quiet "$@" | { grep -v 'ninja: no work to do' || true; } >&2
  fi || die "the build failed (preset '$preset')" "again, with all commands shown: ninja -C $dir -v"
  ((SECONDS - started < 2)) || note "built in $((SECONDS - started)) s"
  note_time "$((SECONDS - started))" "build ($preset)"
}
