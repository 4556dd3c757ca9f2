package server

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A procStat is what /proc/PID/stat says of a process's place.
type procStat struct {
	pid, parent, group, session int
	command                     string
	state                       byte
}

// dead tells a zombie, of which only the status is left, from a process.
func (p procStat) dead() bool { return p.state == 'Z' || p.state == 'X' }

func readStat(pid int) (p procStat, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return p, false // ended meanwhile
	}
	return parseStat(pid, text)
}

// parseStat reads "PID (command) state parent group session …"; the command may
// hold spaces and parentheses.
func parseStat(pid int, text []byte) (p procStat, ok bool) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return p, false
	}
	p.pid, p.command = pid, string(text[open+1:end])
	n, err := fmt.Sscanf(string(text[end+1:]), " %c %d %d %d",
		&p.state, &p.parent, &p.group, &p.session)
	letter := 'A' <= p.state && p.state <= 'Z' || 'a' <= p.state && p.state <= 'z'
	return p, n == 4 && err == nil && letter
}

// processes are all that /proc shows.
func processes() (all []procStat) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readStat(pid); ok {
			all = append(all, p)
		}
	}
	return all
}

// listDescendants are the processes below root, zombies too.
func listDescendants(root int) (below []procStat) {
	children := map[int][]procStat{}
	for _, p := range processes() {
		children[p.parent] = append(children[p.parent], p)
	}
	below = children[root]
	for i := 0; i < len(below); i++ {
		below = append(below, children[below[i].pid]...)
	}
	return below
}

// A death is a child that ended and was waited for; none says that there is no
// child at all.
type death struct {
	none       bool
	pid, group int
	status     unix.WaitStatus
	usage      unix.Rusage
}

// reapOne waits for children, adopted ones too, until there are none.
func reapOne(deaths chan<- death) {
	for {
		pid, err := nextDead()
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			deaths <- death{none: true}
			return
		}
		d := death{pid: pid}
		if p, ok := readStat(pid); ok { // a zombie still tells its group
			d.group = p.group
		}
		for err = unix.EINTR; err == unix.EINTR; {
			_, err = unix.Wait4(pid, &d.status, unix.WALL, &d.usage)
		}
		if err == nil {
			deaths <- d
		}
	}
}
