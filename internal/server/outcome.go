package server

import (
	"fmt"
	"strings"
	"time"
)

// Kind is what went wrong with a server, for a caller to branch on.
type Kind string

// The kinds of failure.
const (
	CannotStart Kind = "cannot start" // not found, not permitted, a bad setting
	PortTaken   Kind = "port taken"   // the address is in use: choose others and try again
	NotReady    Kind = "not ready"    // lives, but did not answer as expected in time
	Ended       Kind = "ended"        // by itself
	DirFull     Kind = "directory full"
	Lost        Kind = "lost" // the supervisor is gone, and all processes with it
)

// A Failure is why a server is not there: a result of its own, not a fault of
// the laboratory.
type Failure struct {
	Process string `json:"process,omitempty"` // empty if it is not one process's
	Kind    Kind   `json:"kind"`
	Reason  string `json:"reason"`           // one line
	Output  string `json:"output,omitempty"` // the last lines that the process wrote

	// Elsewhere is of NotReady: the URL at which it answers, in place of the one where it should.
	Elsewhere string `json:"elsewhere,omitempty"`
}

func (f *Failure) Error() string {
	s := f.Reason
	if f.Process != "" {
		s = f.Process + ": " + s
	}
	if f.Output != "" {
		s += "; its last output:\n" + f.Output
	}
	return s
}

// An Exit is the end of a process.
type Exit struct {
	Name   string        `json:"name"`
	PID    int           `json:"pid"`
	Code   int           `json:"code"`             // exit status; -1 if a signal ended it
	Signal string        `json:"signal,omitempty"` // the one that ended it
	User   time.Duration `json:"user_ns"`          // CPU time of its process group and of those
	System time.Duration `json:"system_ns"`        // that were waited for in it
	Killed bool          `json:"killed,omitempty"` // SIGKILL was necessary
}

func (e Exit) String() string {
	if e.Signal != "" {
		return "ended by signal " + e.Signal
	}
	return fmt.Sprintf("ended with status %d", e.Code)
}

// A Report is how a server was stopped.
type Report struct {
	Exits   []Exit   `json:"exits"`            // in starting order, guests included
	Strays  Strays   `json:"strays"`           // what had left its process group
	Killed  []string `json:"killed,omitempty"` // who did not heed its signal, or had forked away
	Left    int      `json:"left,omitempty"`   // processes that even SIGKILL did not end
	Seconds float64  `json:"seconds"`          // that the stop took
}

// Strays are processes that forked away, such as daemons, and came back to the
// supervisor when they ended.
type Strays struct {
	Processes int           `json:"processes"`
	User      time.Duration `json:"user_ns"`
	System    time.Duration `json:"system_ns"`
}

// mentionsUsedPort tells whether output says that an address is in use, in the words
// of the C library, Node, Windows and those who wrote their own.
func mentionsUsedPort(output string) bool {
	output = strings.ToLower(output)
	for _, words := range []string{
		"address already in use", "eaddrinuse", "address in use", "port already in use",
		"only one usage of each socket address",
	} {
		if strings.Contains(output, words) {
			return true
		}
	}
	return false
}
