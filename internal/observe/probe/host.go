package probe

import (
	"errors"
	"math"
	"time"
)

// A host is the tables of the machine.
type host struct {
	cpus    int     // of the machine
	quota   float64 // of CPUs, of this process's cgroup; 0: none
	sources []source
	tables  []*table
	rows    [][]float64
	notes   *notes
	forked  *float64 // the count of forks in its row
}

// errAbsent is the reason for what a source left out without saying why.
var errAbsent = errors.New("not there on this machine")

// The names of the columns that are asked for again.
const (
	cpuUser    = "host.cpu.user"
	cpuSys     = "host.cpu.sys"
	cpuSoftIRQ = "host.cpu.softirq"
	cpuIRQ     = "host.cpu.irq"
	cpuIdle    = "host.cpu.idle"
	cpuIOWait  = "host.cpu.iowait"
	cpuSteal   = "host.cpu.steal"
	cpuSelf    = "dyno.cpu"
	switches   = "host.context_switches"
	forks      = "host.forks"
	psiCPU     = "host.psi.cpu"
	psiMemory  = "host.psi.memory"
	psiIO      = "host.psi.io"
	retrans    = "host.tcp.retransmits"
	overflows  = "host.tcp.listen_overflows"
	timeWaits  = "host.tcp.time_wait"
	drops      = "host.tcp.listen_drops"
	softnet    = "host.softnet.drops"
	throttled  = "cgroup.throttled"
	throttles  = "cgroup.throttlings"

	frequency   = "host.cpu.frequency"
	temperature = "host.temperature"
	hotSlow     = "host.cpu.thermal_throttlings"
)

// cpuColumns are the times of all CPUs together, in ns; they add up to the whole.
// User contains nice, and guests.
var cpuColumns = []column{
	{name: cpuUser, unit: "%", kind: share},
	{name: cpuSys, unit: "%", kind: share},
	{name: cpuSoftIRQ, unit: "%", kind: share},
	{name: cpuIRQ, unit: "%", kind: share},
	{name: cpuIdle, unit: "%", kind: share},
	{name: cpuIOWait, unit: "%", kind: share},
	{name: cpuSteal, unit: "%", kind: share},
}

func newHost(sources []source, cpus int, n *notes) *host {
	h := &host{cpus: cpus, sources: sources, notes: n}
	for _, s := range sources {
		h.tables = append(h.tables, newTable(s.columns))
		row := newNaNs(len(s.columns))
		for i, c := range s.columns {
			if c.name == forks {
				h.forked = &row[i]
			}
		}
		h.rows = append(h.rows, row)
	}
	return h
}

// forkCount is how many processes and threads were ever made here, NaN if unknown.
func (h *host) forkCount() float64 {
	if h.forked == nil || *h.forked == 0 {
		return math.NaN()
	}
	return *h.forked
}

// readSources reads the sources of a pace, each at its own instant.
func (h *host) readSources(p pace, clock func() float64) {
	first := true
	for i, s := range h.sources {
		if s.pace != p {
			continue
		}
		if !first {
			time.Sleep(sourceGap)
		}
		first = false
		now := clock()
		row := h.rows[i]
		for k := range row {
			row[k] = math.NaN()
		}
		s.read(row)
		if len(h.tables[i].at) == 0 {
			h.noteMissing(s, row)
		}
		h.tables[i].addRow(now, row...)
	}
}

// noteMissing notes what is absent from the first reading on. A source that knows the reason
// has noted it before.
func (h *host) noteMissing(s source, row []float64) {
	for k, x := range row {
		if math.IsNaN(x) {
			h.notes.addNote(s.columns[k].name, errAbsent)
		}
	}
}

func (h *host) hostSeries() (all []Series) {
	for _, t := range h.tables {
		if len(t.at) > 0 {
			all = append(all, t.tableSeries(Series{})...)
		}
	}
	return all
}

// columnGrowth is how much a counter grew, NaN if there is no such counter here.
func (h *host) columnGrowth(name string, from, to float64) float64 {
	for _, t := range h.tables {
		if i := t.columnIndex(name); i >= 0 {
			return t.growthOf(i, from, to)
		}
	}
	return math.NaN()
}

// columnLevel is the mean and the peak of a gauge, NaN if there is no such gauge here.
func (h *host) columnLevel(name string, from, to float64) Level {
	for _, t := range h.tables {
		if i := t.columnIndex(name); i >= 0 {
			return tableLevel(t, i, from, to)
		}
	}
	return Level{Value(math.NaN()), Value(math.NaN())}
}

func (h *host) hostUse(from, to float64) HostUse {
	sum := 0.0
	for _, c := range cpuColumns {
		if d := h.columnGrowth(c.name, from, to); !math.IsNaN(d) {
			sum += d
		}
	}
	grown := func(name string) Value { return Value(h.columnGrowth(name, from, to)) }
	part := func(name string) Value { return 100 * grown(name) / Value(sum) }
	busy := 0.0
	for _, name := range []string{cpuUser, cpuSys, cpuSoftIRQ, cpuIRQ} {
		if d := h.columnGrowth(name, from, to); !math.IsNaN(d) {
			busy += d
		}
	}
	pressure := func(name string) Value { return grown(name) / Value(to-from) / 1e4 } // µs
	return HostUse{
		CPUs: h.cpus, WallS: to - from, Busy: Value(busy),
		User: part(cpuUser), Sys: part(cpuSys), SoftIRQ: part(cpuSoftIRQ), IRQ: part(cpuIRQ),
		IOWait: part(cpuIOWait), Idle: part(cpuIdle), Steal: part(cpuSteal),
		Self:           grown(cpuSelf),
		PressureCPU:    pressure(psiCPU),
		PressureMemory: pressure(psiMemory),
		PressureIO:     pressure(psiIO),
		Switches:       grown(switches),
		Retransmits:    grown(retrans),
		ListenOverflow: grown(overflows),
		ListenDrops:    grown(drops),
		SoftnetDrops:   grown(softnet),
		TimeWait:       h.columnLevel(timeWaits, from, to).Peak,
		Throttled:      grown(throttled),
		Throttlings:    grown(throttles),
		Quota:          h.quota,
		Thermal: Thermal{Frequency: h.columnLevel(frequency, from, to).Mean,
			Temperature: h.columnLevel(temperature, from, to).Peak, TooHot: grown(hotSlow)},
	}
}
