package probe

import (
	"bytes"
	"errors"
	"math"
)

// The texts of /proc that are read often, parsed without allocating.

var errFormat = errors.New("not in the format of this file")

// nextField takes the first word off b.
func nextField(b []byte) (field, rest []byte) {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	end := bytes.IndexAny(b, " \t\n")
	if end < 0 {
		return b, nil
	}
	return b[:end], b[end:]
}

// parseNumber is the unsigned integer that a word is.
func parseNumber(word []byte) (float64, bool) {
	var n uint64
	for _, c := range word {
		if c < '0' || c > '9' || n > (math.MaxUint64-9)/10 {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return float64(n), len(word) > 0
}

// numberAfterKey finds a line that begins with a key, alone or with a colon, and returns the
// number after it; NaN if there is none.
func numberAfterKey(text []byte, key string) float64 {
	for len(text) > 0 {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		word, rest := nextField(line)
		if len(word) > 0 && word[len(word)-1] == ':' {
			word = word[:len(word)-1]
		}
		if string(word) != key {
			continue
		}
		value, _ := nextField(rest)
		if n, ok := parseNumber(value); ok {
			return n
		}
		break
	}
	return math.NaN()
}

// A procStat is what is used of /proc/PID/stat, in its units.
type procStat struct {
	comm                        []byte // of the text
	state                       byte
	parent, threads             int
	user, sys, reapedU, reapedS float64 // ticks
	start                       int64   // ticks after boot
}

// parseStat reads /proc/PID/stat. The name is in parentheses and may contain any
// character, parentheses and newlines too.
func parseStat(text []byte) (s procStat, err error) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return s, errFormat
	}
	s.comm = text[open+1 : end]
	word, rest := nextField(text[end+1:])
	if len(word) != 1 {
		return s, errFormat
	}
	s.state = word[0]
	var fields [19]float64 // from the fourth of the manual, ppid, to the 22nd, starttime
	for i := range fields {
		word, rest = nextField(rest)
		n, ok := parseNumber(word)
		// tty, its group, priorities and the like can be negative; none of them is used.
		if !ok && (len(word) < 2 || word[0] != '-') {
			return s, errFormat
		}
		fields[i] = n
	}
	field := func(manual int) float64 { return fields[manual-4] }
	if field(4) > math.MaxInt32 || field(20) > math.MaxInt32 || field(22) > 1<<53 {
		return s, errFormat // no process, no count of threads and no tick since boot
	}
	s.parent, s.threads = int(field(4)), int(field(20))
	s.user, s.sys = field(14), field(15)
	s.reapedU, s.reapedS = field(16), field(17)
	s.start = int64(field(22))
	return s, nil
}

// parseCPU reads the first line of /proc/stat: the ticks of all CPUs in the order of
// cpuColumns. Kernels of old have fewer; those are n/a.
func parseCPU(text []byte, row []float64) error {
	word, rest := nextField(text)
	if string(word) != "cpu" {
		return errFormat
	}
	var ticks [8]float64 // user nice system idle iowait irq softirq steal
	for i := range ticks {
		ticks[i] = math.NaN()
		word, rest = nextField(rest)
		if n, ok := parseNumber(word); ok {
			ticks[i] = n
		} else if len(word) > 0 || i < 4 {
			return errFormat
		}
	}
	for i, t := range [...]float64{
		ticks[0] + ticks[1], ticks[2], ticks[6], ticks[5], ticks[3], ticks[4], ticks[7],
	} {
		row[i] = t * tick
	}
	return nil
}

// countCPUs is how many CPUs are online: each has a line of its own in /proc/stat.
func countCPUs(text []byte) int { return bytes.Count(text, []byte("\ncpu")) }

// parseSchedstat reads how long a task was runnable and not running, in ns, and how
// often it was given a CPU.
func parseSchedstat(text []byte) (wait, slices float64) {
	_, text = nextField(text)
	fields := [2]float64{math.NaN(), math.NaN()}
	for i := range fields {
		var word []byte
		word, text = nextField(text)
		if n, ok := parseNumber(word); ok {
			fields[i] = n
		}
	}
	return fields[0], fields[1]
}

// parsePIDs appends the numbers of a list with spaces between.
func parsePIDs(pids []int, text []byte) []int {
	for {
		var word []byte
		word, text = nextField(text)
		n, ok := parseNumber(word)
		if !ok || n > math.MaxInt32 {
			return pids
		}
		pids = append(pids, int(n))
	}
}
