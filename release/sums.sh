#!/usr/bin/env bash
# release/sums.sh [DIST]: adds what goreleaser does not know of to DIST/SHA256SUMS: the image, and the
# list of the page's npm packages, which it writes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "${1:-dist}"
node "$here/npmsbom.mjs" "$here/../internal/view/page/web/package-lock.json" >dyno_page.cdx.json
grep -vE '  (image/|dyno_page\.)' SHA256SUMS >SHA256SUMS.new || true
find dyno_page.cdx.json image -type f -print0 | sort -z | xargs -0 sha256sum >>SHA256SUMS.new
mv SHA256SUMS.new SHA256SUMS
