package probe

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"dyno/internal/cgroup"
	"dyno/internal/observe/sockdiag"
)

// A linuxHost reads the machine. What is read at each sample is parsed here, without
// allocating; what is read once a second is left to procfs.
type linuxHost struct {
	scratch *scratch
	notes   *notes
	fs      procfs.FS
	self    procfs.Proc
	cgroup  cgroup.Group
	sensors sensors
	sockets *sockdiag.Diag // nil: not permitted
	cpus    int            // that are online
	whole   cpuWhole
}

func newLinuxHost(s *scratch, n *notes) (*linuxHost, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, fmt.Errorf("read /proc: %w", err)
	}
	self, err := fs.Self()
	if err != nil {
		return nil, fmt.Errorf("read /proc/self: %w", err)
	}
	h := &linuxHost{scratch: s, notes: n, fs: fs, self: self, cpus: runtime.NumCPU()}
	if text, err := s.readFile("/proc/stat"); err == nil && countCPUs(text) > 0 {
		h.cpus = countCPUs(text)
	}
	h.cgroup = cgroup.Own()
	h.sensors = findSensors("/sys")
	if h.sockets, err = sockdiag.Open(); err != nil {
		n.addNote("sockets by state", err)
	}
	return h, nil
}

func (h *linuxHost) closeFiles() {
	if h.sockets != nil {
		h.sockets.Close()
	}
}

func (h *linuxHost) hostSources() []source {
	return []source{
		{paceFast, append(slices.Clip(cpuColumns), []column{
			{name: switches, unit: "1/s", kind: counter},
			{name: forks, unit: "1/s", kind: counter},
			{name: "host.procs_running"},
			{name: "host.procs_blocked"},
			{name: cpuSelf, unit: "%", kind: counter, scale: 1e-7},
		}...), h.readStat},
		{paceHost, []column{
			{name: "host.load1"}, {name: "host.load5"}, {name: "host.load15"},
			{name: "host.memory.available", unit: "bytes"},
			{name: "host.memory.used", unit: "bytes"},
		}, h.readMemory},
		{paceHost, []column{
			{name: psiCPU, unit: "%", kind: counter, scale: 1e-4},
			{name: psiMemory, unit: "%", kind: counter, scale: 1e-4},
			{name: psiIO, unit: "%", kind: counter, scale: 1e-4},
		}, h.readStalls},
		{paceHost, networkColumns("lo", "other"), h.readNetwork},
		{paceHost, []column{
			{name: overflows, unit: "1/s", kind: counter},
			{name: drops, unit: "1/s", kind: counter},
		}, h.readListening},
		{paceHost, []column{
			{name: retrans, unit: "1/s", kind: counter},
			{name: softnet, unit: "1/s", kind: counter},
		}, h.readLost},
		{paceHost, []column{
			{name: "host.tcp.inuse"}, {name: timeWaits},
			{name: "host.tcp.orphan"}, {name: "host.tcp.alloc"},
		}, h.readSockstat},
		{paceHost, cgroupColumns, h.cgroupRow},
		{paceSensors, sensorColumns, func(row []float64) { h.sensors.readSensors(h.scratch, row) }},
		{paceSockets, stateColumns(), h.readStates},
	}
}

// readStat reads /proc/stat: the CPUs' line is the first, and what else is used comes after
// the interrupts, whose line is long.
func (h *linuxHost) readStat(row []float64) {
	row[len(cpuColumns)+4] = selfCPU()
	now := readClock(unix.CLOCK_MONOTONIC)
	text, err := h.scratch.readFile("/proc/stat")
	if err == nil {
		err = parseCPU(text, row)
	}
	if err != nil {
		h.notes.addNote("/proc/stat", err)
		return
	}
	h.whole.complete(row[:len(cpuColumns)], countCPUs(text), now)
	rest := row[len(cpuColumns):]
	if at := bytes.Index(text, []byte("\nctxt ")); at >= 0 {
		text = text[at+1:]
	}
	rest[0], rest[1] = numberAfterKey(text, "ctxt"), numberAfterKey(text, "processes")
	rest[2], rest[3] = numberAfterKey(text, "procs_running"), numberAfterKey(text, "procs_blocked")
}

func (h *linuxHost) readMemory(row []float64) {
	if l, err := h.fs.LoadAvg(); h.readInto("loadavg", err) {
		row[0], row[1], row[2] = l.Load1, l.Load5, l.Load15
	}
	m, err := h.fs.Meminfo()
	if h.readInto("meminfo", err) && m.MemAvailableBytes != nil && m.MemTotalBytes != nil {
		row[3] = float64(*m.MemAvailableBytes)
		row[4] = float64(*m.MemTotalBytes) - row[3]
	}
}

// readStalls is how long something had to wait for a CPU, memory or a disk.
func (h *linuxHost) readStalls(row []float64) {
	for i, resource := range []string{"cpu", "memory", "io"} {
		p, err := h.fs.PSIStatsForResource(resource)
		if h.readInto("pressure/"+resource, err) && p.Some != nil {
			row[i] = float64(p.Some.Total)
		}
	}
}

// networkColumns are the traffic of groups of interfaces.
func networkColumns(groups ...string) (all []column) {
	for _, group := range groups {
		for _, what := range []struct{ name, unit string }{
			{"received", "bytes/s"}, {"sent", "bytes/s"},
			{"packets_received", "1/s"}, {"packets_sent", "1/s"},
		} {
			name := "host.net." + group + "." + what.name
			all = append(all, column{name: name, unit: what.unit, kind: counter})
		}
	}
	return all
}

func (h *linuxHost) readNetwork(row []float64) {
	devices, err := h.fs.NetDev()
	if !h.readInto("net/dev", err) {
		return
	}
	clear(row)
	for name, d := range devices {
		group := row[4:]
		if name == "lo" {
			group = row[:4]
		}
		group[0] += float64(d.RxBytes)
		group[1] += float64(d.TxBytes)
		group[2] += float64(d.RxPackets)
		group[3] += float64(d.TxPackets)
	}
}

// readListening is what listening sockets turned away.
func (h *linuxHost) readListening(row []float64) {
	if s, err := h.self.Netstat(); h.readInto("net/netstat", err) {
		row[0], row[1] = valueOrNaN(s.TcpExt.ListenOverflows), valueOrNaN(s.TcpExt.ListenDrops)
	}
}

// readLost is what TCP had to send again, and what the kernel dropped before it.
func (h *linuxHost) readLost(row []float64) {
	if s, err := h.self.Snmp(); h.readInto("net/snmp", err) {
		row[0] = valueOrNaN(s.Tcp.RetransSegs)
	}
	if cpus, err := h.fs.NetSoftnetStat(); h.readInto("net/softnet_stat", err) {
		row[1] = 0
		for _, c := range cpus {
			row[1] += float64(c.Dropped)
		}
	}
}

// readSockstat reads how many TCP sockets there are: in use, in TIME_WAIT, orphans, allocated.
func (h *linuxHost) readSockstat(row []float64) {
	s, err := h.fs.NetSockstat()
	if !h.readInto("net/sockstat", err) {
		return
	}
	for _, p := range s.Protocols {
		if p.Protocol == "TCP" {
			row[0], row[1] = float64(p.InUse), valueOrNaN(p.TW)
			row[2], row[3] = valueOrNaN(p.Orphan), valueOrNaN(p.Alloc)
		}
	}
	six, err := h.fs.NetSockstat6() // absent without IPv6, and then there are none
	if err != nil {
		return
	}
	for _, p := range six.Protocols {
		if p.Protocol == "TCP6" {
			row[0] += float64(p.InUse)
		}
	}
}

func valueOrNaN[T int | float64](p *T) float64 {
	if p == nil {
		return math.NaN()
	}
	return float64(*p)
}

// readInto says whether a file of /proc was read, and notes why not.
func (h *linuxHost) readInto(file string, err error) bool {
	if err != nil {
		// procfs wraps; the innermost is the kernel's answer.
		for inner := err; inner != nil; inner = errors.Unwrap(inner) {
			err = inner
		}
		h.notes.addNote("/proc/"+file, err)
	}
	return err == nil
}

// readStates reads sockets by state.
func (h *linuxHost) readStates(states []float64) {
	if h.sockets == nil {
		return
	}
	now := newNaNs(4)
	h.readSockstat(now)
	if now[0] > maxSockets {
		h.notes.addNote("sockets by state", errManySockets)
	} else if err := countStates(h.sockets, states); err != nil {
		h.notes.addNote("sockets by state", err)
	}
}
