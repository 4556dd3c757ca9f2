#!/usr/bin/env bash
# texts.sh BINARY OS ARCH TIME: writes the manual and the completions of the shells into
# release/texts, from the flags of a binary that runs on this machine. Of others it does nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
if [ "$2/$3" != "$(go env GOHOSTOS)/$(go env GOHOSTARCH)" ]; then exit 0; fi
rm -rf texts
mkdir texts
SOURCE_DATE_EPOCH=$4 "$1" man texts
gzip -9 -n texts/*.1
"$1" completion bash >texts/dyno.bash
"$1" completion zsh >texts/_dyno
"$1" completion fish >texts/dyno.fish
touch -d "@$4" texts/*
