#!/usr/bin/env bash
# What must be true of the packages in dist, as make packages leaves them; as root on Debian.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fail() { echo "FAIL: $*" >&2; exit 1; }
ours=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== two builds of one commit are equal"
sums() { (cd dist && find . -type f \( -name 'dyno_*' -o -path './image/*' -o -path './dyno_*/*' -o -name SHA256SUMS \) -print0 | sort -z | xargs -0 sha256sum); }
sums >"$work/first"
make --no-print-directory packages >"$work/log" 2>&1 || { tail -20 "$work/log"; fail "the second build"; }
sums >"$work/second"
diff "$work/first" "$work/second" || fail "the builds differ"
echo "$(wc -l <"$work/first") files are equal"

echo "== checksums"
(cd dist && sha256sum --quiet -c SHA256SUMS)

echo "== the deb is installed, run and removed in an empty root"
root=$work/root
mkdir -p "$root"/var/lib/dpkg/{info,updates} "$root"/tmp
touch "$root"/var/lib/dpkg/status
find "$root" -type f | sort >"$work/before"
dpkg --root="$root" --force-script-chrootless --log=/dev/null -i dist/dyno_*_"$ours".deb
chroot "$root" /usr/bin/dyno version
chroot "$root" /usr/bin/dyno help run | head -1
for file in usr/share/man/man1/dyno-run.1.gz usr/share/bash-completion/completions/dyno usr/share/doc/dyno/copyright; do
  [ -s "$root/$file" ] || fail "the deb lacks $file"
done
dpkg --root="$root" --force-script-chrootless --log=/dev/null --purge dyno
find "$root" -type f | grep -vE '/var/lib/dpkg/(status|available|lock|triggers|diversions|statoverride|info/format)' | sort >"$work/after"
grep usr/ "$work/after" && fail "files are left"

echo "== the image's program loads its own server in a root that has nothing else"
blob=$(jq -r '.manifests[] | select(.platform.architecture == "'"$ours"'") | .digest' dist/image/index.json)
layer=$(jq -r '.layers[0].digest' "dist/image/blobs/${blob/:/\/}")
mkdir "$work/image"
tar -xzf "dist/image/blobs/${layer/:/\/}" -C "$work/image"
[ "$(find "$work/image" -type f)" = "$work/image/dyno" ] || fail "the image has more than /dyno"
unshare -n sh -c 'ip link set lo up 2>/dev/null || true
  chroot "$1" /dyno target --listen 127.0.0.1:8099 >/dev/null & server=$!
  sleep 1
  DYNO_HOME=/tmp/dyno chroot "$1" /dyno run -n 1000 -c 4 http://127.0.0.1:8099/
  code=$?; kill $server; exit $code' sh "$work/image"

echo "== rpm, apk and tar.gz have the program"
for file in dist/dyno_*_linux_amd64.tar.gz; do tar -tzf "$file" | grep -q '/dyno$' || fail "$file"; done
for file in dist/dyno_*.apk; do tar -tzf "$file" 2>/dev/null | grep -q '^usr/bin/dyno$' || fail "$file"; done
for file in dist/dyno_*.rpm; do [ "$(head -c 4 "$file" | od -An -tx1 | tr -d ' \n')" = edabeedb ] || fail "$file"; done
for file in dist/dyno_*_linux_*.cdx.json; do jq -e '.components | length > 10' "$file" >/dev/null || fail "$file"; done
echo "all is well"
