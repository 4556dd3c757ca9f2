package server

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ownsPort tells whether a process below root listens on the TCP port, or
// whether that cannot be known. A port on which nobody listens here, which is
// some other machine's, is not a stranger's either.
func ownsPort(root, port int) bool {
	sockets := map[string]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile("/proc/self/net/" + table)
		if err == nil {
			addListeners(sockets, text, port)
		}
	}
	if len(sockets) == 0 {
		return true
	}
	for _, p := range listDescendants(root) {
		dir := filepath.Join("/proc", strconv.Itoa(p.pid), "fd")
		names, err := os.ReadDir(dir)
		if os.IsPermission(err) {
			return true
		}
		for _, name := range names {
			link, err := os.Readlink(filepath.Join(dir, name.Name()))
			if err == nil && sockets[link] {
				return true
			}
		}
	}
	return false
}

// addListeners finds in a table of the kernel the sockets that listen on port,
// and names them as the links in /proc/PID/fd do.
func addListeners(sockets map[string]bool, table []byte, port int) {
	const local, state, inode, listening = 1, 3, 9, "0A"
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		field := strings.Fields(lines.Text())
		if len(field) <= inode || field[state] != listening {
			continue
		}
		_, hex, _ := strings.Cut(field[local], ":")
		if n, err := strconv.ParseUint(hex, 16, 16); err == nil && int(n) == port {
			sockets["socket:["+field[inode]+"]"] = true
		}
	}
}
