package server

import (
	"bufio"
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/observe/sockdiag"
)

// ownsPort tells whether a process below root listens on the TCP port, or
// whether that cannot be known. A port on which nobody listens here, which is
// some other machine's, is not a stranger's either.
func ownsPort(root, port int) bool {
	sockets := listeners()
	maps.DeleteFunc(sockets, func(_ string, of int) bool { return of != port })
	if len(sockets) == 0 {
		return true
	}
	for _, p := range listDescendants(root) {
		open, err := openFiles(p.pid)
		if os.IsPermission(err) || slices.ContainsFunc(open, func(link string) bool {
			return sockets[link] > 0
		}) {
			return true
		}
	}
	return false
}

// Listens reports whether a process, or one below it, listens on a TCP port here, and whether that
// is known: not everybody may read which sockets a process has.
func Listens(root, port int) (listens, known bool) {
	if slices.Contains(listenedPorts(root), port) {
		return true, true
	}
	for _, p := range append(listDescendants(root), procStat{pid: root}) {
		if _, err := openFiles(p.pid); os.IsPermission(err) {
			return false, false
		}
	}
	return false, true
}

// listenedPorts are the TCP ports on which a process and those below it listen, in rising order.
// Processes whose files may not be read have none.
func listenedPorts(root int) (all []int) {
	sockets := listeners()
	for _, p := range append(listDescendants(root), procStat{pid: root}) {
		open, _ := openFiles(p.pid)
		for _, link := range open {
			if port := sockets[link]; port > 0 {
				all = append(all, port)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// openFiles are the links of a process's open files.
func openFiles(pid int) (all []string, err error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if link, err := os.Readlink(filepath.Join(dir, name.Name())); err == nil {
			all = append(all, link)
		}
	}
	return all, nil
}

// listeners are the sockets that listen here, as the links in /proc/PID/fd name them, with their
// TCP ports. Netlink is asked first; where it refuses, the text in /proc is read, for which the
// kernel walks through all connections too.
func listeners() map[string]int {
	all, err := sockdiag.Listeners()
	if err != nil {
		return listenersInText()
	}
	sockets := map[string]int{}
	for link, s := range all {
		sockets[link] = s.Port
	}
	return sockets
}

// listenersInText are the listeners by the tables of IPv4 and IPv6 in /proc.
func listenersInText() map[string]int {
	sockets := map[string]int{}
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile("/proc/self/net/" + table)
		if err == nil {
			addListeners(sockets, text)
		}
	}
	return sockets
}

// addListeners finds in a table of the kernel the sockets that listen, and
// names them as the links in /proc/PID/fd do.
func addListeners(sockets map[string]int, table []byte) {
	const local, state, inode, listening = 1, 3, 9, "0A"
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		field := strings.Fields(lines.Text())
		if len(field) <= inode || field[state] != listening {
			continue
		}
		_, hex, _ := strings.Cut(field[local], ":")
		if n, err := strconv.ParseUint(hex, 16, 16); err == nil {
			sockets["socket:["+field[inode]+"]"] = int(n)
		}
	}
}
