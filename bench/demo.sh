#!/bin/sh
# demo.sh DYNO: starts dyno target on a free port, loads it, prints the report, and
# the path of the same as a page.
set -eu
dyno=$1
log=$(mktemp)
result=$(mktemp)
page=$(mktemp -d "${TMPDIR:-/tmp}/dyno-demo.XXXXXX")/report.html
"$dyno" target --listen 127.0.0.1:0 >"$log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; cat "$log"; rm -f "$log" "$result"' EXIT
url=
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	url=$(sed -n 's/^listening on //p' "$log")
	[ -n "$url" ] && break
	sleep 0.1
done
[ -n "$url" ] || { echo "demo: the server did not start" >&2; exit 1; }
# One thread at a rate that leaves the server, which is on this machine too, its CPUs.
set -- run -t 1 -R 20k -c 100 -d 5s --warmup 1s
echo "\$ dyno $* $url"
"$dyno" "$@" --json "$result" "$url"
"$dyno" report "$result" -o "$page"
printf '\nthe same as a page: %s\n' "$page"
