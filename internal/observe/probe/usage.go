package probe

import (
	"cmp"
	"math"
	"os"
	"slices"
	"time"
)

// A Use is what a tree or a process used in a window. Its numbers are n/a where they
// may not be read or are unknown here.
type Use struct {
	Name string `json:"name"` // of a tree as given; of a process its title or program
	Role string `json:"role"` // of a tree "tree"; "worker process", else "root" or "child"
	PID  int    `json:"pid"`  // of a tree its root's

	CPU  Value `json:"cpu_ns"` // user and system
	User Value `json:"user_ns"`
	Sys  Value `json:"sys_ns"`

	RSS     Level `json:"rss_bytes"` // of a tree the sum: pages that are shared count often
	PSS     Level `json:"pss_bytes"` // proportional: the sum is the memory of the tree
	Threads Level `json:"threads"`
	FDs     Level `json:"fds"`
	Count   Level `json:"process_count"`

	Read        Value `json:"read_bytes"` // from storage
	Written     Value `json:"written_bytes"`
	Voluntary   Value `json:"voluntary_switches"` // of all threads
	Involuntary Value `json:"involuntary_switches"`
	Wait        Value `json:"runqueue_wait_ns"` // runnable and not running, all threads

	Processes []Use `json:"processes,omitempty"` // of a tree, those alive in the window
}

// A Reading is what the newest sample shows of a tree. Its numbers are n/a as a Use's are.
type Reading struct {
	Name   string
	CPU    Value // ns, user and system, since the tree was first seen
	Memory Value // bytes: PSS, or RSS where PSS is not available
}

// readings are the newest of the trees that are known.
func (f *forest) readings() *[]Reading {
	all := make([]Reading, 0, len(f.trees))
	for _, t := range f.trees {
		if !t.known {
			continue
		}
		memory := t.shares.newest(0)
		if math.IsNaN(memory) || t.briefs.newest(treeProcesses) == 0 { // nobody's is read any more
			memory = t.details.newest(detailRSS)
		}
		all = append(all, Reading{t.Name, Value(t.briefs.newest(briefCPU)), Value(memory)})
	}
	return &all
}

// A Level is a gauge in a window.
type Level struct {
	Mean Value `json:"mean"`
	Peak Value `json:"peak"` // of the readings
}

// Between is what each tree, and in it each process, used between two instants of
// this process's clock, in the order in which the trees were named; generators are not
// told of. A window that reaches beyond the recording is cut to it.
func (r *Recording) Between(from, to time.Time) []Use {
	return r.usesBetween(from.Sub(r.Started).Seconds(), to.Sub(r.Started).Seconds())
}

func (r *Recording) usesBetween(from, to float64) []Use {
	var all []Use
	for _, t := range r.trees {
		if t.Generator {
			continue
		}
		u := useBetween(t.briefs, t.details, t.shares, from, to)
		u.Name, u.Role, u.PID = t.Name, "tree", t.PID
		u.Count = tableLevel(t.briefs, treeProcesses, from, to)
		u.Processes = t.usesOfProcesses(from, to)
		all = append(all, u)
	}
	return all
}

func (t *tree) usesOfProcesses(from, to float64) (all []Use) {
	for _, p := range t.sortedProcesses() {
		if p.brief.born > to || p.ended < from {
			continue
		}
		u := useBetween(p.briefs, p.details, p.shares, from, to)
		u.Name, u.Role = processNames(p.title, p.brief.comm, p.pid == t.PID)
		u.PID = p.pid
		u.Count = Level{1, 1}
		all = append(all, u)
	}
	return all
}

// sortedProcesses are the processes in the order in which they began.
func (t *tree) sortedProcesses() []*process {
	return slices.SortedFunc(slices.Values(t.processes), func(a, b *process) int {
		return cmp.Or(cmp.Compare(a.brief.stamp, b.brief.stamp), cmp.Compare(a.pid, b.pid))
	})
}

func useBetween(briefs, details, shares *table, from, to float64) Use {
	counted := func(i int) Value { return Value(details.growthOf(i, from, to)) }
	cpu, user := briefs.growthOf(briefCPU, from, to), briefs.growthOf(briefUser, from, to)
	return Use{
		CPU:         Value(cpu),
		User:        Value(user),
		Sys:         Value(cpu - user),
		Threads:     tableLevel(briefs, briefThreads, from, to),
		RSS:         tableLevel(details, detailRSS, from, to),
		FDs:         tableLevel(details, detailFDs, from, to),
		PSS:         tableLevel(shares, 0, from, to),
		Read:        counted(detailRead),
		Written:     counted(detailWritten),
		Voluntary:   counted(detailVoluntary),
		Involuntary: counted(detailInvoluntary),
		Wait:        counted(detailWait),
	}
}

func tableLevel(t *table, i int, from, to float64) Level {
	mean, peak := t.levelOf(i, from, to)
	return Level{Value(mean), Value(peak)}
}

// treeSeries are those of the tree and of its processes.
func (t *tree) treeSeries() []Series {
	of := Series{Name: "tree.", Of: t.Name}
	all := t.briefs.tableSeries(of)
	all = append(all, t.details.tableSeries(of)...)
	all = append(all, t.shares.tableSeries(of)...)
	for _, p := range t.sortedProcesses() {
		name, role := processNames(p.title, p.brief.comm, p.pid == t.PID)
		if role != "root" && role != "child" {
			name += ": " + role
		}
		of := Series{Name: "process.", Of: name, Tree: t.Name, PID: p.pid}
		all = append(all, p.briefs.tableSeries(of)...)
		all = append(all, p.details.tableSeries(of)...)
		all = append(all, p.shares.tableSeries(of)...)
	}
	return all
}

// A HostUse is what the machine did in a window. Percentages of CPU are of all CPUs.
type HostUse struct {
	CPUs  int     `json:"cpus"` // of the machine; result.Host has those that dyno may use
	WallS float64 `json:"wall_s"`

	// Busy is the time in which CPUs were not idle, did not wait for a disk, and were not stolen.
	// A CPU that the hypervisor wakes late is idle and stolen at once, so with Steal it is the
	// least that was used. User, Sys and interrupts divide it as the kernel's ticks found it.
	Busy    Value `json:"busy_ns"`
	User    Value `json:"user_percent"`
	Sys     Value `json:"sys_percent"`
	SoftIRQ Value `json:"softirq_percent"`
	IRQ     Value `json:"irq_percent"`
	IOWait  Value `json:"iowait_percent"`
	Idle    Value `json:"idle_percent"`
	Steal   Value `json:"steal_percent"` // taken by the hypervisor for others

	Self Value `json:"self_ns"` // CPU time of this process, in a tree or not
	// Foreign is Busy without the trees and this process: CPU time of others. It can be a
	// little below 0, because Busy is rounded to ticks, and too low with Steal. Kernels that
	// account interrupts by the clock (IRQ_TIME_ACCOUNTING) charge them to no process: there the
	// network's share, up to SoftIRQ and IRQ, is in Foreign.
	Foreign Value `json:"foreign_ns"`

	PressureCPU    Value `json:"psi_cpu_percent"` // of the time, some task waited for a CPU
	PressureMemory Value `json:"psi_memory_percent"`
	PressureIO     Value `json:"psi_io_percent"`
	Switches       Value `json:"context_switches"`
	Retransmits    Value `json:"retransmits"` // TCP segments
	ListenOverflow Value `json:"listen_overflows"`
	ListenDrops    Value `json:"listen_drops"`
	SoftnetDrops   Value `json:"softnet_drops"`
	TimeWait       Value `json:"time_wait"`           // sockets in that state, at most
	Throttled      Value `json:"cgroup_throttled_ns"` // of this process's cgroup, sum of its CPUs
	Throttlings    Value `json:"cgroup_throttlings"`  // periods in which it was

	// Quota is how many CPUs that cgroup may use; 0: it has no quota, or it is unknown.
	Quota float64 `json:"cgroup_quota_cpus,omitempty"`

	Thermal
}

// A Thermal is how fast and how hot the CPUs were.
type Thermal struct {
	Frequency   Value `json:"cpu_mhz"`             // mean of the CPUs
	Temperature Value `json:"temperature_celsius"` // highest, of the hottest zone
	TooHot      Value `json:"thermal_throttlings"` // times that CPUs were slowed down for it
}

// Host is what the machine did between two instants of this process's clock.
func (r *Recording) Host(from, to time.Time) HostUse {
	f, t := from.Sub(r.Started).Seconds(), to.Sub(r.Started).Seconds()
	if r.host == nil {
		return absentHost()
	}
	h := r.host.hostUse(f, t)
	h.Foreign = h.Busy
	watched := false
	for _, tree := range r.trees {
		if tree.known {
			h.Foreign -= Value(tree.briefs.growthOf(briefCPU, f, t))
		}
		watched = watched || slices.ContainsFunc(tree.processes, func(p *process) bool {
			return p.pid == os.Getpid()
		})
	}
	if !watched {
		h.Foreign -= h.Self
	}
	return h
}

// absentHost is a HostUse of which nothing is known.
func absentHost() HostUse {
	n := Value(math.NaN())
	return HostUse{
		Busy: n, User: n, Sys: n, SoftIRQ: n, IRQ: n, IOWait: n, Idle: n, Steal: n,
		Self: n, Foreign: n, PressureCPU: n, PressureMemory: n, PressureIO: n, Switches: n,
		Retransmits: n, ListenOverflow: n, ListenDrops: n, SoftnetDrops: n,
		TimeWait: n, Throttled: n, Throttlings: n, Thermal: Thermal{n, n, n},
	}
}
