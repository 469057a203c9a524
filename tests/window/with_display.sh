#!/bin/sh
# Runs a test on the display at hand, or on a virtual one; 77 (skipped) where there is neither, or no xdotool.
command -v xdotool >/dev/null || { echo "skipped: xdotool is not installed"; exit 77; }
if [ -n "$DISPLAY" ]; then exec "$@"; fi
command -v xvfb-run >/dev/null || { echo "skipped: no display and no xvfb-run"; exit 77; }
# -noreset: a server that resets when its last client leaves refuses the next program of the suite now and then
exec xvfb-run -a -s "-screen 0 1920x1200x24 -noreset" "$@"
