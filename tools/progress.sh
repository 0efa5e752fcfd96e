#!/bin/sh
# Runs a command of the first start: says what it does, and every 10 s for how long it has been
# running, so that a slow machine does not look like a hanging one.
label=$1
shift
echo "$label ..."
(
  seconds=0
  while sleep 10 > /dev/null 2>&1; do
    seconds=$((seconds + 10))
    echo "  still running: $seconds s"
  done
) &
reporter=$!
trap 'kill $reporter' EXIT
"$@"
