package result

import (
	"time"

	"dyno/internal/observe/probe"
	"dyno/internal/result/usage"
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

// A Usage is what a part of the server used in the window.
type Usage = usage.Usage

// Watched is what rec, a recording made on this machine while r was measured, shows of r's window.
// Without a tree of processes in it there are no Processes.
func (r *Result) Watched(rec *probe.Recording) *Server {
	from, to := r.Measured()
	return r.Used(rec.Between(from, to), rec.Host(from, to), rec.Cost, rec.Unavailable)
}

// Used is what trees of processes and their machine, here or elsewhere, used in r's window.
func (r *Result) Used(trees []probe.Use, host probe.HostUse, cost probe.Cost,
	unavailable []string) *Server {
	answers := r.Rate.AnswersPerSecond() * r.Window.MeasuredS
	return &Server{Processes: usage.Of(trees, answers, r.Window.MeasuredS), Host: host,
		Sampler: cost, Unavailable: unavailable}
}

// Measured is when the window began and ended, in this process's time.
func (r *Result) Measured() (from, to time.Time) {
	from = r.windowBegin()
	return from, from.Add(time.Duration(r.Window.MeasuredS * 1e9))
}
