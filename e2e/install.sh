#!/bin/sh
# Installs the servers and peers that tests and benchmarks meet, from the
# distribution's own packages: on Debian and Ubuntu, as root. Elsewhere it says
# what to install, and that is not a failure: a test that misses one is skipped
# and says so. It can be run again at any time, and then does what is missing.
# Given names of commands, it installs only those.
set -eu

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# command:package
wanted='nginx:nginx apache2:apache2 php:php-cli php-fpm8.2:php8.2-fpm php-cgi:php8.2-cgi perf:linux-perf node:nodejs caddy:caddy
haproxy:haproxy tinyproxy:tinyproxy-bin h2o:h2o fcgiwrap:fcgiwrap python3:python3 wrk:wrk ab:apache2-utils h2load:nghttp2-client ip:iproute2
npm:npm chromium-headless-shell:chromium-headless-shell zsh:zsh fish:fish curl:curl hey:hey lua5.1:lua5.1 luajit:luajit prometheus:prometheus'

missing=
for w in $wanted; do
	case " ${*:-${w%%:*}} " in *" ${w%%:*} "*) ;; *) continue ;; esac
	command -v "${w%%:*}" >/dev/null 2>&1 || missing="$missing ${w#*:}"
done
if [ -z "$missing" ]; then
	echo "every server and peer is installed"
	exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "please install:$missing"
	echo "on Debian or Ubuntu: sudo apt-get install --no-install-recommends$missing"
	exit 0
fi

. "$(dirname "$0")/../internal/lab/experiment/nostart.sh"

export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y -q --no-install-recommends "$@"; }

apt-get update -q || echo "the package lists could not be renewed; going on with those there are"
# shellcheck disable=SC2086 # words, on purpose
if ! install $missing; then
	echo "not all of:$missing can be had at once; trying one after the other"
	failed=
	for p in $missing; do
		install "$p" || failed="$failed $p"
	done
	[ -z "$failed" ] || echo "could not install:$failed; tests of these will be skipped"
fi
