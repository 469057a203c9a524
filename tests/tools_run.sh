#!/usr/bin/env bash
# What tools/run asks of the program where there is no display: tests/tools_run.sh ROOT
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/tools" "$folder/build"
cp "$1/tools/run" "$folder/tools/run"
cat >"$folder/tools/common.sh" <<END
root=$folder
note() { :; }
choose_cuda() { cuda_option=OFF; }
configure_and_build() { :; }
END
printf '#!/bin/sh\n' >"$folder/tools/setup"
# says what it was asked, and makes the folder of its results
cat >"$folder/build/convscope" <<'END'
#!/bin/sh
echo "$*"
while [ $# -gt 1 ]; do
  [ "$1" = --out ] && mkdir -p "$2"
  shift
done
END
chmod +x "$folder/tools/setup" "$folder/build/convscope"

faults=0
# expect ASKED ARGUMENTS...
expect() {
  local asked=$1 got
  shift
  got=$(env -u DISPLAY -u WAYLAND_DISPLAY "$folder/tools/run" "$@" 2>&1) || true
  if [[ $got != "$asked" ]]; then
    printf 'tools/run %s\n  asked for %s\n  expected  %s\n' "$*" "$got" "$asked"
    faults=1
  fi
}
for command in run stream list check bench; do expect "$command x --json y" "$command" x --json y; done
expect "run --out $folder/out/pictures"
expect "run --frame 3 a.mp4 --set bank=sobel --out $folder/out/pictures" --frame 3 a.mp4 --set bank=sobel
expect "run a.png --out $folder/mine" a.png --out "$folder/mine"
exit $faults
