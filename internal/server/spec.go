package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Defaults, and limits.
const (
	DefaultGrace  = 2 * time.Second
	DefaultDirMax = 1 << 30 // bytes

	killTime  = 5 * time.Second        // until what survives SIGKILL is counted as left
	drainTime = 200 * time.Millisecond // for output in the pipe of a process that has ended
)

// A Spec says what a server consists of.
type Spec struct {
	Dir        string    // private run directory, which exists; default of each process's Dir
	DirMax     int64     // bytes of all files below Dir; 0 means DefaultDirMax
	Temporary  bool      // Dir goes with the server, also when dyno has ended before it
	Processes  []Process // in starting order; none: for guests alone
	Supervisor []string  // argv that makes this program call Supervise with no arguments
	Netns      *Netns    // nil: the network of the caller

	// Waits is called if a process is not ready soon, with what is waited for; nil: nobody is told.
	Waits func(Waiting) `json:"-"`
}

// Netns asks for a private network namespace with nothing but a loopback
// interface, and for settings of it. Root or, where the system lets unprivileged
// users make user namespaces, anyone can have one.
type Netns struct {
	Sysctl map[string]string // as in {"net.core.somaxconn": "4096"}; only net.* is private

	// Clients are how many namespaces more there are, with the same settings, each
	// connected to the server's by a pair of virtual Ethernet interfaces: a network
	// with a machine for each, where NetnsAddress is the server's.
	Clients int
}

// NetnsAddress is the server's address where there are Clients. Its network exists
// within their namespaces only.
const NetnsAddress = "10.77.0.1"

// MaxClients is how many Clients there can be.
const MaxClients = 64

// A Process is one program of a server.
type Process struct {
	Name   string         // unique within the server
	Args   []string       // the program, searched in PATH of Env, and its arguments
	Env    []string       // this and no more; of a name given twice the last counts
	Dir    string         // working directory; default: the Spec's
	User   string         // "name", "uid", or either with ":group"; default: the caller's
	NoFile uint64         // RLIMIT_NOFILE, soft and hard; 0: as inherited
	CPUs   []int          // may run on these only; empty: as inherited
	Output string         // file of stdout and stderr; default: Name.log in the Spec's Dir
	Ready  *Ready         // nil: ready as soon as started
	Stop   syscall.Signal // default SIGTERM
	Grace  time.Duration  // between Stop and SIGKILL; 0 means DefaultGrace
	Client int            // of a guest: in which of Netns.Clients, from 1; 0: the server's
}

// withDefaults is s with its defaults in place, if it can be started at all.
func (s Spec) withDefaults() (Spec, error) {
	if info, err := os.Stat(s.Dir); err != nil {
		return s, fmt.Errorf("run directory of the server: %w", err)
	} else if !info.IsDir() {
		return s, fmt.Errorf("run directory of the server: %s is not a directory", s.Dir)
	}
	var err error
	if s.Dir, err = filepath.Abs(s.Dir); err != nil {
		return s, fmt.Errorf("run directory of the server: %w", err)
	}
	if n := s.clientCount(); n < 0 || n > MaxClients {
		return s, fmt.Errorf("%d client namespaces are not within 0 to %d", n, MaxClients)
	}
	if s.DirMax == 0 {
		s.DirMax = DefaultDirMax
	}
	var all []Process
	names := map[string]bool{}
	for _, p := range s.Processes {
		if p, err = p.withDefaults(s.Dir); err != nil {
			return s, err
		}
		if p.Client != 0 {
			return s, fmt.Errorf("process %s: only a guest can be in a client's namespace", p.Name)
		}
		all = append(all, p)
		if names[p.Name] {
			return s, fmt.Errorf("two processes of the server are called %q", p.Name)
		}
		names[p.Name] = true
	}
	s.Processes = all
	return s, nil
}

// clientCount are how many namespaces there are for clients.
func (s Spec) clientCount() int {
	if s.Netns == nil {
		return 0
	}
	return s.Netns.Clients
}

// lastOfEach lets a later setting of a name replace an earlier one: programs
// differ in which of two they see.
func lastOfEach(env []string) []string {
	at := map[string]int{}
	var all []string
	for _, setting := range env {
		name, _, _ := strings.Cut(setting, "=")
		if i, twice := at[name]; twice {
			all[i] = setting
			continue
		}
		at[name] = len(all)
		all = append(all, setting)
	}
	return all
}

// sought is what the process writes when it is ready; "": that is not how it is known.
func (p Process) sought() string {
	if p.Ready == nil {
		return ""
	}
	return p.Ready.Log
}

func (p Process) withDefaults(dir string) (Process, error) {
	if p.Name == "" || strings.ContainsAny(p.Name, "/\\\x00") {
		return p, fmt.Errorf("process %q: the name must be a file name, as %s.log", p.Name, p.Name)
	}
	if len(p.Args) == 0 || p.Args[0] == "" {
		return p, fmt.Errorf("process %s: no command", p.Name)
	}
	if p.Dir == "" {
		p.Dir = dir
	} else if !filepath.IsAbs(p.Dir) {
		p.Dir = filepath.Join(dir, p.Dir)
	}
	if p.Output == "" {
		p.Output = filepath.Join(dir, p.Name+".log")
	}
	var err error
	if p.Output, err = filepath.Abs(p.Output); err != nil {
		return p, fmt.Errorf("process %s: output: %w", p.Name, err)
	}
	p.Env = lastOfEach(p.Env)
	if p.Stop == 0 {
		p.Stop = syscall.SIGTERM
	}
	if p.Grace == 0 {
		p.Grace = DefaultGrace
	}
	if p.Ready != nil {
		r, err := p.Ready.withDefaults()
		if err != nil {
			return p, fmt.Errorf("process %s: %w", p.Name, err)
		}
		p.Ready = &r
	}
	return p, nil
}
