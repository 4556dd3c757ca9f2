package result

import (
	"math"
	"time"

	"dyno/internal/observe/probe"
)

// A Server is what the watched processes, and the machine they ran on, used in the window. What the
// machine does not report is null.
type Server struct {
	Agent       string        `json:"agent,omitempty"` // on which machine; "": on the generator's
	Watch       []string      `json:"watch,omitempty"` // PID, NAME, NAME@AGENT: as given
	Processes   []Usage       `json:"processes"`       // the first is the sum of all
	Host        probe.HostUse `json:"host"`
	Sampler     probe.Cost    `json:"sampler"`
	Unavailable []string      `json:"unavailable,omitempty"` // which values are null, and why
}

// A Usage is what a part of the server used in the window. The sum of all has no name. A tree of
// processes has a name, and so does each process of a tree that has several. Gauges are peaks; a
// sum of peaks may be higher than the peak of the sum.
type Usage struct {
	Name string `json:"name"`
	PID  int    `json:"pid,omitempty"` // of a tree, its root's

	CPU     probe.Value `json:"cpu_us_per_request"` // of requests answered in the window
	User    probe.Value `json:"user_us_per_request"`
	System  probe.Value `json:"system_us_per_request"`
	Wait    probe.Value `json:"runqueue_wait_us_per_request"` // of runnable threads
	Percent probe.Value `json:"cpu_percent"`                  // of one core

	Memory      probe.Value `json:"memory_bytes"` // PSS, or RSS where PSS is not available
	RSS         probe.Value `json:"rss_bytes"`
	Count       probe.Value `json:"process_count"`
	Threads     probe.Value `json:"threads"`
	FDs         probe.Value `json:"fds"`
	Voluntary   probe.Value `json:"voluntary_switches"` // in the window, like what follows
	Involuntary probe.Value `json:"involuntary_switches"`
	Read        probe.Value `json:"read_bytes"` // from storage
	Written     probe.Value `json:"written_bytes"`
}

// Watched is what rec, a recording made on this machine while r was measured, shows of r's window.
// Without a tree of processes in it there are no Processes.
func (r *Result) Watched(rec *probe.Recording) *Server {
	from, to := r.Measured()
	return r.Used(rec.Between(from, to), rec.Host(from, to), rec.Cost, rec.Unavailable)
}

// Used is what trees of processes and their machine, here or elsewhere, used in r's window.
func (r *Result) Used(trees []probe.Use, host probe.HostUse, cost probe.Cost,
	unavailable []string) *Server {
	return &Server{Processes: r.usagesOf(trees), Host: host, Sampler: cost, Unavailable: unavailable}
}

// Measured is when the window began and ended, in this process's time.
func (r *Result) Measured() (from, to time.Time) {
	from = r.windowBegin()
	return from, from.Add(time.Duration(r.Window.MeasuredS * 1e9))
}

func (r *Result) usagesOf(trees []probe.Use) []Usage {
	if len(trees) == 0 {
		return nil
	}
	all := []Usage{{}}
	for _, tree := range trees {
		part := r.usagePerRequest(tree)
		all[0].Add(part)
		all = append(all, part)
		if len(tree.Processes) < 2 {
			continue
		}
		for _, p := range tree.Processes {
			part := r.usagePerRequest(p)
			part.Name = tree.Name + ": " + nameOf(p)
			all = append(all, part)
		}
	}
	return all
}

func nameOf(u probe.Use) string {
	if u.Role == "root" || u.Role == "child" {
		return u.Name
	}
	return u.Name + " " + u.Role
}

// usagePerRequest divides by the requests that were answered in the window, as Rate counts them,
// errors included. What the server worked off later cost it nothing in the window.
func (r *Result) usagePerRequest(u probe.Use) Usage {
	seconds := probe.Value(r.Window.MeasuredS)
	requests := probe.Value(r.Rate.AnswersPerSecond()) * seconds
	if requests == 0 {
		requests = probe.Value(math.NaN())
	}
	memory := u.PSS.Peak
	if !memory.OK() {
		memory = u.RSS.Peak
	}
	return Usage{Name: u.Name, PID: u.PID, CPU: u.CPU / 1e3 / requests,
		User: u.User / 1e3 / requests, System: u.Sys / 1e3 / requests,
		Wait: u.Wait / 1e3 / requests, Percent: u.CPU / 1e7 / seconds,
		Memory: memory, RSS: u.RSS.Peak, Count: u.Count.Peak, Threads: u.Threads.Peak,
		FDs: u.FDs.Peak, Voluntary: u.Voluntary, Involuntary: u.Involuntary,
		Read: u.Read, Written: u.Written}
}

// Add adds part to u. A value that one of them does not know is unknown in the sum.
func (u *Usage) Add(part Usage) {
	sum := u.valuePointers()
	for i, v := range part.valuePointers() {
		*sum[i] += *v
	}
}

func (u *Usage) valuePointers() []*probe.Value {
	return []*probe.Value{&u.CPU, &u.User, &u.System, &u.Wait, &u.Percent, &u.Memory, &u.RSS,
		&u.Count, &u.Threads, &u.FDs, &u.Voluntary, &u.Involuntary, &u.Read, &u.Written}
}
