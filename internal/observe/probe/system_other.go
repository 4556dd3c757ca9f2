//go:build !linux

package probe

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
	gops "github.com/shirou/gopsutil/v4/process"
)

// threadCPU is not known here.
func threadCPU() float64 { return math.NaN() }

// A portable is the system by gopsutil: what macOS and Windows both tell.
type portable struct {
	notes   *notes
	started time.Time
	self    *gops.Process
}

func openSystem(n *notes) (system, error) {
	self, err := gops.NewProcess(int32(os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("read this process: %w", err)
	}
	if _, err := cpu.Times(false); err != nil {
		return nil, fmt.Errorf("read the times of the CPUs: %w", err)
	}
	return &portable{notes: n, started: time.Now(), self: self}, nil
}

func (s *portable) close() {}

func (s *portable) tables() ([]source, int) {
	return []source{
		{paceFast, append(slices.Clip(cpuColumns),
			column{name: cpuSelf, unit: "%", kind: counter, scale: 1e-7}), s.times},
		{paceHost, []column{
			{name: "host.memory.available", unit: "bytes"},
			{name: "host.memory.used", unit: "bytes"},
		}, s.memory},
	}, runtime.NumCPU()
}

// times leaves out what gopsutil only has as 0 here.
func (s *portable) times(row []float64) {
	all, err := cpu.Times(false)
	if err != nil || len(all) != 1 {
		return
	}
	row[0], row[1], row[4] = (all[0].User+all[0].Nice)*1e9, all[0].System*1e9, all[0].Idle*1e9
	if t, err := s.self.Times(); err == nil {
		row[len(cpuColumns)] = (t.User + t.System) * 1e9
	}
}

func (s *portable) memory(row []float64) {
	m, err := mem.VirtualMemory()
	if err != nil {
		s.notes.addNote("host.memory", err)
		return
	}
	row[0], row[1] = float64(m.Available), float64(m.Total)-float64(m.Available)
}

func (s *portable) kin() func(pid, threads int) []int {
	all := map[int][]int{}
	if list, err := gops.Processes(); err == nil {
		for _, p := range list {
			if parent, err := p.Ppid(); err == nil && parent > 0 {
				all[int(parent)] = append(all[int(parent)], int(p.Pid))
			}
		}
	}
	return func(pid, _ int) []int { return all[pid] }
}

func (s *portable) brief(pid int, b *brief) error {
	p, err := gops.NewProcess(int32(pid))
	if err != nil {
		return err
	}
	made, err := p.CreateTime() // ms since 1970
	if err != nil {
		return err
	}
	t, err := p.Times()
	if err != nil {
		s.notes.addNote(fmt.Sprintf("CPU time of process %d", pid), err)
		return err
	}
	if b.stamp != made {
		if b.comm, err = p.Name(); err != nil {
			return err
		}
	}
	if parent, err := p.Ppid(); err == nil {
		b.parent = int(parent)
	}
	b.stamp = made
	b.born = birthTime(time.UnixMilli(made).Sub(s.started).Seconds(), 1e-3)
	b.user, b.sys = t.User*1e9, t.System*1e9
	b.threads = 0
	if n, err := p.NumThreads(); err == nil {
		b.threads = int(n)
	}
	return nil
}

func (s *portable) clock(pid int) (float64, bool) {
	p, err := gops.NewProcess(int32(pid))
	if err != nil {
		return 0, false
	}
	t, err := p.Times()
	if err != nil {
		return 0, false
	}
	return (t.User + t.System) * 1e9, true
}

func (s *portable) detail(p *process, d *detail) error {
	copy(d[:], newNaNs(len(d)))
	q, err := gops.NewProcess(int32(p.pid))
	if err != nil {
		return err
	}
	if m, err := q.MemoryInfo(); err == nil {
		d[detailRSS] = float64(m.RSS)
	} else {
		s.notes.addNote(fmt.Sprintf("memory of process %d", p.pid), err)
	}
	s.notes.addNote("fds, io, switches and run-queue waiting of processes", errSystem)
	return nil
}

var errSystem = fmt.Errorf("only known on Linux")

func (s *portable) pss(*process) (float64, error) {
	s.notes.addNote("pss of processes", errSystem)
	return math.NaN(), nil
}

func (s *portable) title(pid int) string {
	p, err := gops.NewProcess(int32(pid))
	if err != nil {
		return ""
	}
	words, err := p.CmdlineSlice()
	if err != nil || len(words) == 0 {
		return ""
	}
	return words[0]
}

// running lists all processes.
func running() ([]candidate, error) {
	list, err := gops.Processes()
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	var all []candidate
	for _, p := range list {
		c := candidate{pid: int(p.Pid)}
		if parent, err := p.Ppid(); err == nil {
			c.parent = int(parent)
		}
		name, err := p.Name()
		if err != nil {
			continue
		}
		c.comm = name
		if path, err := p.Exe(); err == nil {
			c.program = programOf(path)
		}
		all = append(all, c)
	}
	return all, nil
}
