package probe

import (
	"math"
	"path"
	"strings"
)

// maxProcesses is how many processes of a recording have series of their own. The
// others count in their trees all the same.
const maxProcesses = 64

// A process is one that belongs to a tree.
type process struct {
	pid, parent int
	tree        *tree
	brief       brief
	known       bool    // brief has been read
	reaped      float64 // ns handed to it so far

	cpu, user float64 // ns, the last reading and the user part of it
	clocked   bool
	detail    detail
	detailed  bool
	tasks     []task // kept by the system's reader

	title  string
	titled int // times that the title was read
	ended  float64

	briefs, details, shares *table // nil: no series of its own
}

// A task is a thread's counters, kept because a sum over threads must not shrink
// when one ends. Its id is 0 for all those that ended.
type task struct {
	id                     int
	slices                 float64 // times that it was given a CPU
	voluntary, involuntary float64
	wait                   float64 // ns
}

func (t *task) addTask(u task) {
	t.voluntary += u.voluntary
	t.involuntary += u.involuntary
	t.wait += u.wait
}

func newProcess(pid, parent int, t *tree) *process {
	return &process{pid: pid, parent: parent, tree: t, ended: math.Inf(1)}
}

// isFresh says that the process began after the sampler: its counters began at 0
// then, so their first reading is growth.
func (p *process) isFresh() bool { return p.brief.born >= 0 }

// startTables gives the process tables of its own.
func (p *process) startTables() {
	p.briefs = newTable(briefColumns)
	p.details = newTable(detailColumns)
	p.shares = newTable(pssColumns)
}

// advanceClock takes a reading of the CPU clock, and returns how much it and the user
// part of it grew.
func (p *process) advanceClock(now, cpu float64) (grown, user float64) {
	b := p.brief
	part := 1.0
	if b.user+b.sys > 0 {
		part = b.user / (b.user + b.sys)
	}
	first := !p.clocked
	p.clocked = true
	if first && !p.isFresh() {
		p.cpu, p.user = cpu, cpu*part
	} else {
		// User time is cut at ticks: the split may move, the parts must not shrink.
		grown = max(cpu-p.cpu, 0)
		user = min(max(cpu*part-p.user, 0), grown)
		p.cpu += grown
		p.user += user
	}
	if p.briefs != nil {
		p.addProcessRow(p.briefs, now, p.cpu, p.user, countOrNaN(b.threads, 1))
	}
	return grown, user
}

// countOrNaN is a number of threads of so many processes; none at all is not known.
func countOrNaN(threads, processes int) float64 {
	if threads == 0 && processes > 0 {
		return math.NaN()
	}
	return float64(threads)
}

// applyDetails takes a detail, and returns how much its counters grew; NaN for those
// that may not be read.
func (p *process) applyDetails(now float64, d detail) (grown detail) {
	for i := range d {
		switch {
		case isGauge(i):
		case p.detailed:
			grown[i] = d[i] - p.detail[i]
		case p.isFresh():
			grown[i] = d[i]
		default:
			grown[i] = d[i] * 0 // n/a stays n/a
		}
	}
	p.detail, p.detailed = d, true
	if p.details != nil {
		p.addProcessRow(p.details, now, d[:]...)
	}
	return grown
}

// addProcessRow adds a row, and before the first one of a process that began after the
// sampler its beginning, at which its counters were 0.
func (p *process) addProcessRow(to *table, now float64, row ...float64) {
	if len(to.at) == 0 && p.isFresh() && p.brief.born < now {
		to.addRow(p.brief.born, to.zeroRow(row)...)
	}
	to.addRow(now, row...)
}

// processNames splits a title into a name and a role. Programs that write their own title say
// "nginx: worker process"; of others the name is the program's.
func processNames(title, comm string, root bool) (name, role string) {
	first, _, _ := strings.Cut(title, "\x00")
	if before, after, written := strings.Cut(first, ": "); written && !strings.Contains(before, "/") {
		after, _, _ = strings.Cut(after, " /") // "master process /usr/sbin/nginx -c …"
		return before, strings.TrimSpace(after)
	}
	name = path.Base(strings.ReplaceAll(first, `\`, "/"))
	if first == "" {
		name = comm
	}
	if root {
		return name, "root"
	}
	return name, "child"
}
