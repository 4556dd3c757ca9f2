package probe

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/prometheus/procfs"
)

// A linuxHost reads the machine. What is read at each sample is parsed here, without
// allocating; what is read once a second is left to procfs.
type linuxHost struct {
	scratch *scratch
	notes   *notes
	fs      procfs.FS
	self    procfs.Proc
	cgroup  cgroup
	sensors sensors
	sockets *socketDiag // nil: not permitted
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
	h := &linuxHost{scratch: s, notes: n, fs: fs, self: self}
	h.cgroup = findCgroup(self)
	h.sensors = findSensors("/sys")
	if h.sockets, err = openSocketDiag(); err != nil {
		n.add("sockets by state", err)
	}
	return h, nil
}

func (h *linuxHost) close() {
	if h.sockets != nil {
		h.sockets.close()
	}
}

func (h *linuxHost) sources() []source {
	return []source{
		{paceFast, append(slices.Clip(cpuColumns), []column{
			{name: switches, unit: "1/s", kind: counter},
			{name: forks, unit: "1/s", kind: counter},
			{name: "host.procs_running"},
			{name: "host.procs_blocked"},
			{name: cpuSelf, unit: "%", kind: counter, scale: 1e-7},
		}...), h.stat},
		{paceHost, []column{
			{name: "host.load1"}, {name: "host.load5"}, {name: "host.load15"},
			{name: "host.memory.available", unit: "bytes"},
			{name: "host.memory.used", unit: "bytes"},
		}, h.memory},
		{paceHost, []column{
			{name: psiCPU, unit: "%", kind: counter, scale: 1e-4},
			{name: psiMemory, unit: "%", kind: counter, scale: 1e-4},
			{name: psiIO, unit: "%", kind: counter, scale: 1e-4},
		}, h.stalls},
		{paceHost, networkColumns("lo", "other"), h.network},
		{paceHost, []column{
			{name: overflows, unit: "1/s", kind: counter},
			{name: drops, unit: "1/s", kind: counter},
		}, h.listening},
		{paceHost, []column{
			{name: retrans, unit: "1/s", kind: counter},
			{name: softnet, unit: "1/s", kind: counter},
		}, h.lost},
		{paceHost, []column{
			{name: "host.tcp.inuse"}, {name: timeWaits},
			{name: "host.tcp.orphan"}, {name: "host.tcp.alloc"},
		}, h.sockstat},
		{paceHost, cgroupColumns, h.cgroupRow},
		{paceSensors, sensorColumns, func(row []float64) { h.sensors.read(h.scratch, row) }},
		{paceSockets, stateColumns(), h.states},
	}
}

// stat reads /proc/stat: the CPUs' line is the first, and what else is used comes after
// the interrupts, whose line is long.
func (h *linuxHost) stat(row []float64) {
	row[len(cpuColumns)+4] = selfCPU()
	text, err := h.scratch.file("/proc/stat")
	if err == nil {
		err = parseCPU(text, row)
	}
	if err != nil {
		h.notes.add("/proc/stat", err)
		return
	}
	rest := row[len(cpuColumns):]
	if at := bytes.Index(text, []byte("\nctxt ")); at >= 0 {
		text = text[at+1:]
	}
	rest[0], rest[1] = lookup(text, "ctxt"), lookup(text, "processes")
	rest[2], rest[3] = lookup(text, "procs_running"), lookup(text, "procs_blocked")
}

func (h *linuxHost) memory(row []float64) {
	if l, err := h.fs.LoadAvg(); h.read("loadavg", err) {
		row[0], row[1], row[2] = l.Load1, l.Load5, l.Load15
	}
	m, err := h.fs.Meminfo()
	if h.read("meminfo", err) && m.MemAvailableBytes != nil && m.MemTotalBytes != nil {
		row[3] = float64(*m.MemAvailableBytes)
		row[4] = float64(*m.MemTotalBytes) - row[3]
	}
}

// stalls is how long something had to wait for a CPU, memory or a disk.
func (h *linuxHost) stalls(row []float64) {
	for i, resource := range []string{"cpu", "memory", "io"} {
		p, err := h.fs.PSIStatsForResource(resource)
		if h.read("pressure/"+resource, err) && p.Some != nil {
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

func (h *linuxHost) network(row []float64) {
	devices, err := h.fs.NetDev()
	if !h.read("net/dev", err) {
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

// listening is what listening sockets turned away.
func (h *linuxHost) listening(row []float64) {
	if s, err := h.self.Netstat(); h.read("net/netstat", err) {
		row[0], row[1] = pointed(s.TcpExt.ListenOverflows), pointed(s.TcpExt.ListenDrops)
	}
}

// lost is what TCP had to send again, and what the kernel dropped before it.
func (h *linuxHost) lost(row []float64) {
	if s, err := h.self.Snmp(); h.read("net/snmp", err) {
		row[0] = pointed(s.Tcp.RetransSegs)
	}
	if cpus, err := h.fs.NetSoftnetStat(); h.read("net/softnet_stat", err) {
		row[1] = 0
		for _, c := range cpus {
			row[1] += float64(c.Dropped)
		}
	}
}

// sockstat reads how many TCP sockets there are: in use, in TIME_WAIT, orphans, allocated.
func (h *linuxHost) sockstat(row []float64) {
	s, err := h.fs.NetSockstat()
	if !h.read("net/sockstat", err) {
		return
	}
	for _, p := range s.Protocols {
		if p.Protocol == "TCP" {
			row[0], row[1] = float64(p.InUse), pointed(p.TW)
			row[2], row[3] = pointed(p.Orphan), pointed(p.Alloc)
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

func pointed[T int | float64](p *T) float64 {
	if p == nil {
		return math.NaN()
	}
	return float64(*p)
}

// read says whether a file of /proc was read, and notes why not.
func (h *linuxHost) read(file string, err error) bool {
	if err != nil {
		// procfs wraps; the innermost is the kernel's answer.
		for inner := err; inner != nil; inner = errors.Unwrap(inner) {
			err = inner
		}
		h.notes.add("/proc/"+file, err)
	}
	return err == nil
}

// states reads sockets by state.
func (h *linuxHost) states(states []float64) {
	if h.sockets == nil {
		return
	}
	now := nans(4)
	h.sockstat(now)
	if now[0] > maxSockets {
		h.notes.add("sockets by state", errManySockets)
	} else if err := h.sockets.count(states); err != nil {
		h.notes.add("sockets by state", err)
	}
}
