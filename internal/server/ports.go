package server

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
)

// maxSocketPath is the longest path that every system's socket address holds.
const maxSocketPath = 103

// FreePorts are n different TCP ports of 127.0.0.1 on which nobody listens. Until
// a server does, another program may take one: a Failure of kind PortTaken then
// says so, and others can be tried.
func FreePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close() // at the end, so that no port is given twice
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// FreePort is one of FreePorts.
func FreePort() (int, error) {
	ports, err := FreePorts(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

// SocketDir makes a directory of mode 0700 for unix sockets, with a path that is short
// enough for names of up to 60 bytes, and those of 55 in a folder of up to 4 within it.
// It lies in $TMPDIR, or in the first of $XDG_RUNTIME_DIR, /tmp and /dev/shm that will do, where no
// other user can put something else in its place. It is an error if none will. The caller removes
// it.
func SocketDir() (string, error) {
	return socketDirIn(os.TempDir(), os.Getenv("XDG_RUNTIME_DIR"), "/tmp", "/dev/shm")
}

// checkModes fails if a folder that this user has made has other rights than it was made with. Then
// it lies in a filesystem that does not store them, as FAT and some shared folders of virtual
// machines do, and others may enter it.
func checkModes(dir string) error {
	info, err := os.Lstat(dir)
	if err == nil && !isPrivate(info) {
		err = fmt.Errorf("%s was made with the rights of its user alone, and has %v: its filesystem "+
			"stores no owners or modes; set TMPDIR to a directory of another", dir, info.Mode())
	}
	return err
}

// socketDirIn is SocketDir, in the first of these directories that will do. The error is that of
// the first.
func socketDirIn(parents ...string) (string, error) {
	const longestName = 60
	var first error
	for _, parent := range parents {
		if parent == "" {
			continue
		}
		parent, err := steady(parent)
		dir := ""
		if err == nil {
			dir, err = os.MkdirTemp(parent, "dyno-")
		}
		if err == nil && len(dir)+1+longestName > maxSocketPath {
			err = fmt.Errorf("%s is too long a path for them; set TMPDIR", parent)
		} else if err == nil {
			err = checkModes(dir)
		}
		if err == nil {
			return dir, nil
		}
		if dir != "" {
			err = errors.Join(err, os.Remove(dir))
		}
		first = cmp.Or(first, err)
	}
	return "", fmt.Errorf("directory for sockets: %w", first)
}
