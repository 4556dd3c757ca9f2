#!/bin/sh
# vulncheck.sh: known vulnerabilities of what dyno calls, by govulncheck. Exit codes: 0 there are
# none, 1 there are some, 3 it could not be found out.
#
# The database is https://vuln.go.dev, or VULNDB: the URL of a mirror, or file:///DIR of a copy,
# unpacked from https://vuln.go.dev/vulndb.zip. govulncheck itself comes from the Go module proxy.
set -u
tool=golang.org/x/vuln/cmd/govulncheck@v1.9.0
db=${VULNDB:-https://vuln.go.dev}
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
if ! GOBIN="$bin" go install "$tool"; then
	echo "vulncheck: not checked: $tool could not be built" >&2
	exit 3
fi
"$bin/govulncheck" -db "$db" ./... >"$bin/out" 2>&1
code=$?
cat "$bin/out"
case $code in
0) exit 0 ;;
3) exit 1 ;; # govulncheck's code for vulnerabilities
esac
echo "vulncheck: not checked: govulncheck ended with $code, as above. Where its database, $db," >&2
echo "vulncheck: cannot be reached, VULNDB names a mirror, or file:///DIR of a copy of vulndb.zip" >&2
exit 3
