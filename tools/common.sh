# Shared by setup, run and test: where the project is, one line a step, and which nvcc to use. To be sourced.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
command_name=tools/$(basename "$0")

# note AREA TEXT: one line of progress.
note() { printf '%-10s %s\n' "$1" "$2"; }

fail() {
  printf '%s: %s\n' "$command_name" "$1" >&2
  exit 1
}

# step AREA TEXT LOG COMMAND...: runs the command with its output in LOG, which is shown where it fails.
step() {
  local area=$1 text=$2 log=$3 start=$SECONDS
  shift 3
  mkdir -p "$(dirname "$log")"
  if "$@" >"$log" 2>&1 </dev/null; then
    note "$area" "$text ($((SECONDS - start)) s)"
  else
    local code=$?
    note "$area" "$text: FAILED; the end of $log:"
    tail -n 60 "$log"
    return "$code"
  fi
}

# Compile jobs: the processors, but at most one for each 1.5 GiB of memory.
compile_jobs() {
  local kib limit jobs
  kib=$(awk '/^MemAvailable/ {print $2}' /proc/meminfo 2>/dev/null || true)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || true)
  if [[ $limit =~ ^[0-9]+$ ]] && ((limit / 1024 < ${kib:-0})); then kib=$((limit / 1024)); fi
  jobs=$(nproc)
  if [[ -n $kib ]] && ((kib / 1572864 < jobs)); then jobs=$((kib / 1572864)); fi
  echo $((jobs < 1 ? 1 : jobs))
}

# First nvcc that can compile C++20 (CUDA 12 or later); nothing where there is none.
find_nvcc() {
  local nvcc major
  for nvcc in "${CUDACXX:-}" "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc "$root/.venv-cuda/bin/nvcc"; do
    [[ -n $nvcc && -x $(command -v "$nvcc" || true) ]] || continue
    major=$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
    if ((${major:-0} >= 12)); then
      command -v "$nvcc"
      return
    fi
  done
}

# configure_and_build PRESET TARGET [CMAKE OPTIONS...]: one log each; TARGET all builds everything.
configure_and_build() {
  local preset=$1 target=$2 jobs
  shift 2
  jobs=$(compile_jobs)
  step configure "$preset" "$root/out/logs/configure-$preset.log" \
    cmake -S "$root" --preset "$preset" "$@" || return
  step build "$preset, $jobs jobs" "$root/out/logs/build-$preset.log" \
    cmake --build "$(preset_folder "$preset")" --target "$target" --parallel "$jobs"
}

# The build folder that CMakePresets.json gives to a preset.
preset_folder() {
  if [[ $1 == release ]]; then echo "$root/build"; else echo "$root/build-$1"; fi
}

# Lets CMake use the nvcc of find_nvcc. AUTO would take an nvcc too old for C++20, and stop: there CUDA is left out.
choose_cuda() {
  local nvcc
  nvcc=$(find_nvcc)
  cuda_option=AUTO
  if [[ -n $nvcc ]]; then
    export CUDACXX=$nvcc
  else
    unset CUDACXX
    if command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]]; then cuda_option=OFF; fi
  fi
}
