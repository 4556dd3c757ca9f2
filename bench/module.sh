#!/bin/sh
# Gives the module another path, in go.mod and wherever its packages are imported or named:
#   bench/module.sh example.org/load/dyno
set -eu
new=${1:?say the module path, as example.org/load/dyno}
cd "$(dirname "$0")/.."
old=$(sed -n 's/^module //p' go.mod)
find . -name '*.go' -not -path '*/node_modules/*' -exec sed -i.before \
	-e "s#\"$old/\(internal\|cmd\|bench\|e2e\|dynotest\)\\b#\"$new/\1#g" \
	-e "s#^\(import *\|[[:space:]]*\)\"$old\"\$#\1\"$new\"#" {} +
find . -name '*.go.before' -not -path '*/node_modules/*' -delete
sed -i.before "1s#.*#module $new#" go.mod
rm go.mod.before
echo "the module is $new now; run gofmt -w on what it lists:"
gofmt -l .
