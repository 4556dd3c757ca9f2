package server

import (
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
// It is an error if another user could put something else in its place.
// The caller removes it.
func SocketDir() (string, error) {
	const longestName = 60
	for _, parent := range []string{os.TempDir(), "/tmp"} {
		parent, err := steady(parent)
		if err != nil {
			return "", fmt.Errorf("directory for sockets: %w", err)
		}
		dir, err := os.MkdirTemp(parent, "dyno-")
		if err != nil {
			return "", fmt.Errorf("directory for sockets: %w", err)
		}
		if len(dir)+1+longestName <= maxSocketPath {
			return dir, nil
		}
		if err := os.Remove(dir); err != nil {
			return "", fmt.Errorf("directory for sockets: %w", err)
		}
	}
	return "", fmt.Errorf("directory for sockets: %s is too long a path for them; set TMPDIR",
		os.TempDir())
}
