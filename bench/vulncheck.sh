#!/bin/sh
# vulncheck.sh: known vulnerabilities of what dyno calls, by govulncheck, and of the page's npm packages,
# by npm audit. Exit codes: 0 there are none, 1 there are some, 3 it could not be found out.
#
# The database is https://vuln.go.dev, or VULNDB: the URL of a mirror, or file:///DIR of a copy,
# unpacked from https://vuln.go.dev/vulndb.zip. govulncheck itself comes from the Go module proxy. npm
# asks its registry (npm config get registry), which not every mirror can answer for.
set -u
tool=golang.org/x/vuln/cmd/govulncheck@v1.9.0
db=${VULNDB:-https://vuln.go.dev}
web=internal/view/page/web
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT

go_modules() {
	if ! GOBIN="$bin" go install "$tool"; then
		echo "vulncheck: not checked: $tool could not be built" >&2
		return 3
	fi
	"$bin/govulncheck" -db "$db" ./... >"$bin/out" 2>&1
	code=$?
	cat "$bin/out"
	case $code in
	0) return 0 ;;
	3) return 1 ;; # govulncheck's code for vulnerabilities
	esac
	echo "vulncheck: not checked: govulncheck ended with $code, as above. Where its database, $db," >&2
	echo "vulncheck: cannot be reached, VULNDB names a mirror, or file:///DIR of a copy of vulndb.zip" >&2
	return 3
}

# npm ends with 1 for vulnerabilities, and for most else. Its report has a version, and an error has none.
npm_packages() {
	npm --prefix "$web" audit --json >"$bin/npm" 2>"$bin/npm.err"
	code=$?
	if ! grep -q '"auditReportVersion"' "$bin/npm"; then
		cat "$bin/npm.err" >&2
		echo "vulncheck: not checked: npm audit ended with $code, as above; npm config set registry URL" >&2
		echo "vulncheck: names a registry that answers for vulnerabilities" >&2
		return 3
	fi
	[ "$code" -eq 0 ] && echo "No vulnerabilities found in npm packages." && return 0
	npm --prefix "$web" audit
	return 1
}

go_modules
first=$?
npm_packages
second=$?
if [ $first -eq 1 ] || [ $second -eq 1 ]; then exit 1; fi
if [ $first -ne 0 ] || [ $second -ne 0 ]; then exit 3; fi
