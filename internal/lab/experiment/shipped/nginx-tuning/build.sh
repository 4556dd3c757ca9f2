#!/bin/sh
# Builds nginx for this very processor, with tcmalloc. Arguments: SOURCE, a folder
# with nginx's sources, or the word debian for those of Debian's package, which are
# then fetched with package lists of their own; and BUILD, the folder of the result.
# Packages: gcc make libc6-dev zlib1g-dev libgoogle-perftools-dev, and dpkg-dev for debian.
set -eu
source=$1 build=$2
rm -rf "$build/work" # of a build that was interrupted
mkdir -p "$build/work"
cd "$build/work"

if [ "$source" = debian ]; then
	. /etc/os-release
	if [ "$ID" != debian ]; then
		echo "this is $ID, and not Debian: set NGINX_SOURCE to a folder of nginx's sources" >&2
		exit 1
	fi
	if ! command -v dpkg-source >/dev/null; then
		echo "dpkg-source is not on the PATH; install dpkg-dev, or set NGINX_SOURCE to a folder" >&2
		exit 1
	fi
	mkdir -p lists/partial
	echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main" >sources.list
	debian() {
		apt-get -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=- \
			-o Dir::State::Lists="$PWD/lists" -o APT::Sandbox::User="$(id -un)" "$@"
	}
	debian -q update
	debian -q source --download-only nginx
	dpkg-source --no-check -x nginx_*.dsc sources
else
	if ! [ -x "$source/configure" ]; then
		echo "NGINX_SOURCE, $source, is no folder of nginx's sources: it has no program configure;" \
			"give its absolute path, as of an unpacked release" >&2
		exit 1
	fi
	cp -R "$source" sources
fi

cd sources
./configure --prefix="$build" --sbin-path="$build/nginx" --without-http_rewrite_module \
	--with-http_stub_status_module \
	--with-cc-opt='-O3 -march=native -flto=auto' --with-ld-opt='-flto=auto -ltcmalloc_minimal'
make -j"$(nproc)"
cp objs/nginx "$build/nginx"
rm -rf "$build/work"
