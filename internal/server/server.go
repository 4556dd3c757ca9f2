package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// A Server is a set of processes that serve together, and their supervisor.
type Server struct {
	tree      *tree
	died      chan Failure
	temporary string // folder that goes with it

	mu       sync.Mutex
	last     int // id of the latest process
	running  []Running
	logs     map[string]string // output file by process
	guests   map[int]*Guest
	stopping bool

	once   sync.Once // of Stop
	report Report
	err    error
}

// Running is a process that was started and is part of the server.
type Running struct {
	Name string `json:"name"`
	PID  int    `json:"pid"` // the root of its process tree
}

// Start starts the processes of spec one after the other, each when the one
// before it is ready. On error nothing is left running; the error is a *Failure
// if a process is the reason, and that of ctx if it was done.
func Start(ctx context.Context, spec Spec) (*Server, error) {
	spec, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{
		died:   make(chan Failure, len(spec.Processes)+1), // each once, and the supervisor
		logs:   map[string]string{},
		guests: map[int]*Guest{},
	}
	if spec.Temporary {
		s.temporary = spec.Dir
	}
	if s.tree, err = openTree(spec, s.handleEvent); err != nil {
		return nil, err
	}
	for _, p := range spec.Processes {
		if err := s.startProcess(ctx, p); err != nil {
			if report, unclean := s.Stop(); report.Left > 0 {
				err = errors.Join(err, unclean)
			}
			return nil, err
		}
	}
	return s, nil
}

// startProcess starts p and waits until it is ready. The death of any process ends it.
func (s *Server) startProcess(ctx context.Context, p Process) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	id := s.assignID(p, nil)
	pid, err := s.tree.startProcess(id, p, false, streams{})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.running = append(s.running, Running{p.Name, pid})
	s.mu.Unlock()
	if p.Ready == nil {
		return nil
	}
	ready := make(chan error, 1)
	go func() { ready <- s.tree.awaitReady(ctx, id) }()
	long := time.NewTimer(waitingAfter)
	defer long.Stop()
	for {
		select {
		case f := <-s.died:
			return &f
		case <-ctx.Done():
			return fmt.Errorf("wait for %s to be ready: %w", p.Name, ctx.Err())
		case err := <-ready:
			return err
		case <-long.C:
			if tell := s.tree.spec.Waits; tell != nil {
				tell(Waiting{p.Name, p.Ready.URL, p.Ready.Log, p.Ready.statuses()})
			}
		}
	}
}

// assignID gives p, and the guest that it is if any, an id.
func (s *Server) assignID(p Process, g *Guest) (id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.logs[p.Name] = p.Output
	if g != nil {
		s.guests[s.last] = g
	}
	return s.last
}

// handleEvent handles what the tree tells unasked.
func (s *Server) handleEvent(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.guests[e.ID]; g != nil && e.Exit != nil {
		delete(s.guests, e.ID)
		g.ended <- *e.Exit
		return
	}
	if e.Failure != nil && e.Failure.Kind == Lost {
		for id, g := range s.guests {
			delete(s.guests, id)
			g.ended <- Exit{Name: g.Name, Code: -1, Signal: "lost"}
		}
	}
	if e.Failure == nil || s.stopping {
		return
	}
	select {
	case s.died <- *e.Failure:
	default: // each process has room for its first failure; more say nothing new
	}
}

// Processes are those of the spec, in its order, whether they live or not.
func (s *Server) Processes() []Running {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Running(nil), s.running...)
}

// Died tells of processes that ended although nobody stopped them, of a run
// directory that grew too large, and of a supervisor that was lost. The server
// is then to be stopped. The channel is never closed.
func (s *Server) Died() <-chan Failure { return s.died }

// Tail is the last n lines (at most 8 KiB of them) that the named process wrote.
func (s *Server) Tail(name string, n int) (string, error) {
	s.mu.Lock()
	path, known := s.logs[name]
	s.mu.Unlock()
	if !known {
		return "", fmt.Errorf("output of %q: no such process was started", name)
	}
	if err := s.tree.flushLogs(); err != nil {
		return "", err
	}
	return readTail(path, n)
}

// Stop stops the processes in reverse order: the signal of each to its process
// group, its grace, SIGKILL; then kills whatever else they left. It returns
// when nothing is left, and the same again when called again. The error says
// why the report is incomplete.
func (s *Server) Stop() (Report, error) {
	s.once.Do(func() {
		s.mu.Lock()
		s.stopping = true
		s.mu.Unlock()
		s.report, s.err = s.tree.stopAll()
		if s.temporary != "" {
			s.err = errors.Join(s.err, os.RemoveAll(s.temporary))
		}
	})
	return s.report, s.err
}

// A Guest is a process beside the servers: under the same supervisor and in the
// same network namespace, but its streams are the caller's and its end is no
// failure. The load generator of a namespace is one.
type Guest struct {
	Running
	tree  *tree
	id    int
	ended chan Exit

	once sync.Once
	exit Exit
}

// Run starts p as a guest. A nil stdin is empty; nil stdout and stderr go to
// p.Output. The files may be closed when Run has returned. p.Ready is ignored.
func (s *Server) Run(p Process, stdin, stdout, stderr *os.File) (*Guest, error) {
	p, err := p.withDefaults(s.tree.spec.Dir)
	if err != nil {
		return nil, err
	}
	p.Ready = nil
	if n := s.tree.spec.clientCount(); p.Client < 0 || p.Client > n {
		return nil, fmt.Errorf("guest %s: there is no client namespace %d; there are %d", p.Name,
			p.Client, n)
	}
	g := &Guest{Running: Running{Name: p.Name}, tree: s.tree, ended: make(chan Exit, 1)}
	g.id = s.assignID(p, g)
	if g.PID, err = s.tree.startProcess(g.id, p, true, streams{stdin, stdout, stderr}); err != nil {
		s.mu.Lock()
		delete(s.guests, g.id)
		s.mu.Unlock()
		return nil, err
	}
	return g, nil
}

// Wait waits until the guest has ended, by itself, by the server's Stop, or, with
// the signal "lost", with the supervisor.
func (g *Guest) Wait() Exit {
	g.once.Do(func() { g.exit = <-g.ended })
	return g.exit
}

// Signal sends a signal to the guest's process group; one that has ended is no
// error.
func (g *Guest) Signal(sig syscall.Signal) error { return g.tree.sendSignal(g.id, sig) }

// streams are a guest's standard input, output and error, each nil by default.
type streams [3]*os.File

// An event is what a tree tells unasked: a process ended, and whether that is a
// failure of the whole.
type event struct {
	ID      int
	Exit    *Exit    `json:",omitempty"`
	Failure *Failure `json:",omitempty"`
}
