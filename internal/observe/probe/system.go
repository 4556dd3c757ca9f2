package probe

import (
	"math"
	"slices"
)

// A system reads what this operating system tells of its processes. Times of
// processes are in nanoseconds.
type system interface {
	// tables are the readings of the machine, and how many CPUs these are about.
	tables() (all []source, cpus int)
	// kin takes a look at who is whose parent, and returns what finds the children
	// of a process among that.
	kin() func(pid, threads int) []int
	// brief reads what is read of a process at each sample. An error means that it
	// is gone.
	brief(pid int, b *brief) error
	// clock reads a process's CPU time; false if it is gone.
	clock(pid int) (float64, bool)
	// detail reads what is read now and then; NaN for what may not be read. An error
	// means that the process is gone.
	detail(p *process, d *detail) error
	// pss reads a process's proportional set size in bytes.
	pss(p *process) (float64, error)
	// title reads a process's command line, or its name if it has none.
	title(pid int) string
	close()
}

// A pace is how often a table of the machine is read.
type pace int

const (
	paceFast pace = iota
	paceHost
	paceSensors
	paceSockets
)

// A source fills the rows of a table of the machine.
type source struct {
	pace    pace
	columns []column
	read    func(row []float64) // row is all NaN before
}

// A brief is what is read of a process at each sample.
type brief struct {
	stamp                 int64   // when it was made, in the kernel's units: the pid's life
	born                  float64 // the same, in seconds after the sampler's start
	parent                int
	comm                  string // only set anew when it changed
	threads               int
	user, sys             float64 // ns, only their proportion is used
	reapedUser, reapedSys float64 // ns, of children that were waited for
}

// The readings of a detail: gauges, then counters that are handed to the parent,
// then counters that are not.
const (
	detailRSS = iota
	detailFDs
	detailRead
	detailWritten
	detailVoluntary
	detailInvoluntary
	detailWait
	details
)

// A detail is what is read of a process now and then.
type detail [details]float64

func isHandedUp(i int) bool { return i == detailRead || i == detailWritten }
func isGauge(i int) bool    { return i < detailRead }

var (
	briefColumns = []column{
		{name: "cpu", unit: "%", kind: counter, scale: 1e-7},
		{name: "cpu.user", unit: "%", kind: counter, scale: 1e-7},
		{name: "threads"},
	}
	treeColumns   = append(slices.Clip(briefColumns), column{name: "processes"})
	detailColumns = []column{
		{name: "rss", unit: "bytes"},
		{name: "fds"},
		{name: "io.read", unit: "bytes/s", kind: counter},
		{name: "io.written", unit: "bytes/s", kind: counter},
		{name: "switches.voluntary", unit: "1/s", kind: counter},
		{name: "switches.involuntary", unit: "1/s", kind: counter},
		{name: "runqueue.wait", unit: "%", kind: counter, scale: 1e-7},
	}
	pssColumns = []column{{name: "pss", unit: "bytes"}}
)

// The columns of brief tables.
const (
	briefCPU = iota
	briefUser
	briefThreads
	treeProcesses
)

// birthTime is when a process was made, in seconds after the sampler's start, of a reading
// that is cut down to a unit. One that might have been made after the start was: it had
// no time to use much before.
func birthTime(cut, unit float64) float64 {
	if cut < 0 && cut > -unit {
		return 0
	}
	return cut
}

// newNaNs is a row that says nothing.
func newNaNs(n int) []float64 {
	row := make([]float64, n)
	for i := range row {
		row[i] = math.NaN()
	}
	return row
}
