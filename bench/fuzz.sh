#!/bin/sh
# fuzz.sh TIME DIR...: runs every fuzz target below the directories for TIME.
#
# An input that reaches something new is made smaller in a hundred tries. By default Go takes up to
# a minute for that, in which nothing else is tried: with large seeds most of TIME.
#
# Go's fuzzer sometimes calls it a failure when its time is over while a worker is
# busy: "context deadline exceeded", and no input. That is none; whatever has an input
# that fails is.
set -eu
time=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for file in $(grep -rl --include='*_test.go' --exclude-dir=node_modules '^func Fuzz' "$@" | sort); do
	dir=$(dirname "$file")
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$file"); do
		echo "== $dir $target"
		if go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 100x "$dir" >"$log" 2>&1; then
			tail -n 1 "$log"
		elif grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log"; then
			echo "ok, and Go's fuzzer did not end in time"
		else
			cat "$log"
			exit 1
		fi
	done
done
