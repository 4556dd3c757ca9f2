package result

import (
	"math"
	"time"

	"dyno/internal/observe/probe"
)

// A Server is what the processes that were watched, and the machine they ran
// on, used in the window. What this machine does not tell is null.
type Server struct {
	Agent       string        `json:"agent,omitempty"` // on whose machine; "": on the generator's
	Watch       []string      `json:"watch,omitempty"` // PID, NAME, NAME@AGENT: as given
	Processes   []Usage       `json:"processes"`       // first all together
	Host        probe.HostUse `json:"host"`
	Sampler     probe.Cost    `json:"sampler"`
	Unavailable []string      `json:"unavailable,omitempty"` // what is null, and why
}

// A Usage is what a part of the server used in the window. That of all
// together has no name; a tree of processes has one, and where there are
// several in a tree, each of them too. Gauges are peaks; a sum of peaks may be
// higher than there ever was at once.
type Usage struct {
	Name string `json:"name"`
	PID  int    `json:"pid,omitempty"` // of a tree its root's

	CPU     probe.Value `json:"cpu_us_per_request"` // of those answered in the window
	User    probe.Value `json:"user_us_per_request"`
	System  probe.Value `json:"system_us_per_request"`
	Wait    probe.Value `json:"runqueue_wait_us_per_request"` // of threads ready to run
	Percent probe.Value `json:"cpu_percent"`                  // of one core

	Memory      probe.Value `json:"memory_bytes"` // PSS, or RSS where that is not to be had
	RSS         probe.Value `json:"rss_bytes"`
	Count       probe.Value `json:"process_count"`
	Threads     probe.Value `json:"threads"`
	FDs         probe.Value `json:"fds"`
	Voluntary   probe.Value `json:"voluntary_switches"` // in the window, as what follows
	Involuntary probe.Value `json:"involuntary_switches"`
	Read        probe.Value `json:"read_bytes"` // from storage
	Written     probe.Value `json:"written_bytes"`
}

// Watched is what rec, a recording made while r was measured on this machine,
// says of r's window. Without a tree in it there are no Processes.
func (r *Result) Watched(rec *probe.Recording) *Server {
	from, to := r.Measured()
	return r.Used(rec.Between(from, to), rec.Host(from, to), rec.Cost, rec.Unavailable)
}

// Used is what trees of processes and their machine used in r's window, wherever they are.
func (r *Result) Used(trees []probe.Use, host probe.HostUse, cost probe.Cost,
	unavailable []string) *Server {
	return &Server{Processes: r.usagesOf(trees), Host: host, Sampler: cost, Unavailable: unavailable}
}

// Measured is from when to when the window was, in this process's time.
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

// usagePerRequest divides by the exchanges that were answered in the window, as Rate counts
// them, rightly or with an error: what the server worked off later cost it nothing in
// the window.
func (r *Result) usagePerRequest(u probe.Use) Usage {
	seconds := probe.Value(r.Window.MeasuredS)
	requests := probe.Value(r.Rate.Answers()) * seconds
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

// Add makes u the sum of both; what one of them does not know, the sum does not.
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
