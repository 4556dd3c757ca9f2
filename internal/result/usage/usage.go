// Package usage has what the processes of a server used, for each request that they answered.
package usage

import (
	"math"

	"dyno/internal/observe/probe"
)

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

// Of is what trees of processes used in a window of so many seconds, in which so many requests were
// answered, errors included. What the server worked off later cost it nothing in the window. The
// first is the sum of all; nil of none.
func Of(trees []probe.Use, answers, seconds float64) []Usage {
	if len(trees) == 0 {
		return nil
	}
	all := []Usage{{}}
	for _, tree := range trees {
		part := perRequest(tree, answers, seconds)
		all[0].Add(part)
		all = append(all, part)
		if len(tree.Processes) < 2 {
			continue
		}
		for _, p := range tree.Processes {
			part := perRequest(p, answers, seconds)
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

// perRequest divides by the requests that were answered in the window.
func perRequest(u probe.Use, answers, measured float64) Usage {
	seconds, requests := probe.Value(measured), probe.Value(answers)
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
