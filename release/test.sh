#!/usr/bin/env bash
# What must be true of the packages in dist, as make packages leaves them; as root on Debian.
#   release/test.sh            everything
#   release/test.sh deb image  some of: equal (builds again), checksums, signature, deb, image, files
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fail() { echo "FAIL: $*" >&2; exit 1; }
ours=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sums() { (cd dist && find . -type f \( -name 'dyno_*' -o -path './image/*' -o -path './dyno_*/*' -o -name SHA256SUMS \) -print0 | sort -z | xargs -0 sha256sum); }

equal() {
  echo "== two builds of one commit are equal"
  sums >"$work/first"
  [ "$(wc -l <"$work/first")" -gt 30 ] || fail "dist has only $(wc -l <"$work/first") files; run make packages"
  make --no-print-directory packages >"$work/log" 2>&1 || { tail -20 "$work/log"; fail "the second build"; }
  sums >"$work/second"
  diff "$work/first" "$work/second" || fail "the builds differ"
  echo "$(wc -l <"$work/first") files are equal"
}

checksums() {
  echo "== checksums"
  (cd dist && sha256sum --quiet -c SHA256SUMS)
  local file
  for file in dist/dyno_*.{tar.gz,zip,deb,rpm,apk,cdx.json} dist/image/index.json dist/image/blobs/sha256/*; do
    [ ! -f "$file" ] || grep -qF "  ${file#dist/}" dist/SHA256SUMS || fail "SHA256SUMS lacks $file"
  done
}

signature() {
  echo "== the checksums are signed, and what is verified is what was signed"
  ssh-keygen -q -t ed25519 -N '' -C release -f "$work/key"
  cp -r dist "$work/signed"
  release/sign.sh "$work/key" "$work/signed"
  printf 'dyno namespaces="dyno-release" %s\n' "$(cat "$work/key.pub")" >"$work/signers"
  verify() { ssh-keygen -Y verify -f "$work/signers" -I dyno -n dyno-release -s "$work/signed/SHA256SUMS.sig" <"$work/signed/SHA256SUMS"; }
  verify
  echo >>"$work/signed/SHA256SUMS"
  ! verify 2>/dev/null || fail "a changed SHA256SUMS is verified"
}

deb() {
  echo "== the deb is installed, run and removed in an empty root"
  local root=$work/root file
  mkdir -p "$root"/var/lib/dpkg/{info,updates} "$root"/tmp
  touch "$root"/var/lib/dpkg/status
  dpkg --root="$root" --force-script-chrootless --log=/dev/null -i dist/dyno_*_"$ours".deb
  chroot "$root" /usr/bin/dyno version
  chroot "$root" /usr/bin/dyno help run | head -1
  for file in usr/share/man/man1/dyno-run.1.gz usr/share/bash-completion/completions/dyno usr/share/doc/dyno/copyright; do
    [ -s "$root/$file" ] || fail "the deb lacks $file"
  done
  dpkg --root="$root" --force-script-chrootless --log=/dev/null --purge dyno
  find "$root" -type f -path '*/usr/*' | grep . && fail "files are left"
  [ ! -e "$root/usr/bin/dyno" ] || fail "the program is left"
}

image() {
  echo "== the image's program loads its own server in a root that has nothing else"
  local blob layer
  blob=$(jq -r '.manifests[] | select(.platform.architecture == "'"$ours"'") | .digest' dist/image/index.json)
  layer=$(jq -r '.layers[0].digest' "dist/image/blobs/${blob/:/\/}")
  mkdir "$work/image"
  tar -xzf "dist/image/blobs/${layer/:/\/}" -C "$work/image"
  [ "$(find "$work/image" -type f)" = "$work/image/dyno" ] || fail "the image has more than /dyno"
  unshare -n sh -c 'ip link set lo up
    chroot "$1" /dyno target --listen 127.0.0.1:8099 >/dev/null & server=$!
    sleep 1
    DYNO_HOME=/tmp/dyno chroot "$1" /dyno run -n 1000 -c 4 http://127.0.0.1:8099/
    code=$?; kill $server; exit $code' sh "$work/image"
}

# list is the names of the files in an archive; an apk is several, one after the other.
list() { tar -tzf "$1" 2>/dev/null || true; }

files() {
  echo "== rpm, apk, tar.gz and SBOM have what they should"
  local file
  for file in dist/dyno_*.tar.gz; do list "$file" | grep -cE '/dyno(\.exe)?$' >/dev/null || fail "$file has no program"; done
  for file in dist/dyno_*.apk; do list "$file" | grep -c '^usr/bin/dyno$' >/dev/null || fail "$file has no program"; done
  for file in dist/dyno_*.rpm; do [ "$(head -c 4 "$file" | od -An -tx1 | tr -d ' \n')" = edabeedb ] || fail "$file is no rpm"; done
  for file in dist/dyno_*_linux_*.cdx.json; do jq -e '.components | length > 10' "$file" >/dev/null || fail "$file"; done
  tar --utc -tvzf dist/dyno_*_linux_amd64.tar.gz >"$work/listed"
  grep -c "$(TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%d) .*/dyno$" "$work/listed" >/dev/null ||
    fail "the program in the archive has not the date of the commit: $(grep '/dyno$' "$work/listed")"
  du -b dist/dyno_*.tar.gz dist/dyno_*.deb dist/dyno_*.rpm dist/dyno_*.apk dist/dyno_*.cdx.json
}

[ $# -gt 0 ] || set -- equal checksums signature deb image files
for step in "$@"; do
  case $step in
    equal | checksums | signature | deb | image | files) "$step" ;;
    *) fail "$step is none of equal, checksums, signature, deb, image and files" ;;
  esac
done
echo "all is well"
