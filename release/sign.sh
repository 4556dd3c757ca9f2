#!/usr/bin/env bash
# release/sign.sh KEY [DIST]: signs DIST/SHA256SUMS, which has the checksums of all that is released,
# with an SSH key that lies outside of the repository. ssh-keygen verifies it (docs/install.md).
set -euo pipefail
key=${1:?which key? release/sign.sh KEY [DIST]}
dist=${2:-dist}
(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
rm -f "$dist/SHA256SUMS.sig"
ssh-keygen -Y sign -f "$key" -n dyno-release "$dist/SHA256SUMS"
