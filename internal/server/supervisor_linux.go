package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	inherited   = 3                     // the descriptor that a child finds its connection on
	clientSpace = 4                     // and the one of the namespace that it is to enter
	orphanTime  = 2 * time.Second       // for all graces together when dyno is dead
	lookEvery   = 20 * time.Millisecond // while waiting for processes to end
)

// Supervise is what this program does when it is executed as Spec.Supervisor,
// with the arguments after those: none for the supervisor, others for the
// trampoline. The error is for the program to report.
func Supervise(args []string) error {
	runtime.LockOSThread() // death signals and affinity belong to a thread
	switch {
	case len(args) == 0:
		return supervise()
	case len(args) == 2 && args[0] == launchVerb:
		return launch(args[1])
	}
	return errors.New("the supervisor of servers is started by dyno, not by hand")
}

// A supervisor owns processes. Its loop does everything that starts, signals or
// forgets one.
type supervisor struct {
	wire    *wire
	spec    Spec
	clients []*os.File      // their namespaces, which last as long as these and who is inside
	ctx     context.Context // done when the servers are to be stopped
	cancel  context.CancelFunc
	full    chan struct{} // the directory is
	tasks   sync.WaitGroup

	children []*child
	deaths   chan death
	reaping  bool // somebody waits for deaths
	strays   Strays
	killed   []string
}

// A child is a process that was asked for.
type child struct {
	id      int
	process Process
	guest   bool
	pid     int // also its process group
	log     *log
	drained chan struct{} // closed when nobody holds its output any more
	ended   bool
	failed  bool // never became the program
	exit    Exit
}

func supervise() error {
	w, err := newWire(os.NewFile(inherited, "dyno"))
	if err != nil {
		return fmt.Errorf("the supervisor of servers is started by dyno, not by hand: %w", err)
	}
	// Caught and dropped rather than ignored, which servers would inherit.
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the reaper of servers: %w", err)
	}
	s := &supervisor{wire: w, full: make(chan struct{}, 1), deaths: make(chan death)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	orders := make(chan ordered)
	go s.receive(orders)
	for {
		select {
		case o, open := <-orders:
			if !open {
				s.stop(time.Now().Add(orphanTime))
				if s.spec.Temporary {
					return os.RemoveAll(s.spec.Dir)
				}
				return nil
			}
			s.handle(o)
			if o.Do == doStop {
				return nil
			}
		case d := <-s.deaths:
			s.note(d)
		case <-s.full:
			s.cancel()
			s.killAll()
			s.tell(event{Failure: dirFull(s.spec.Dir, s.spec.DirMax)})
		}
	}
}

// ordered is an order with the files that came with it.
type ordered struct {
	order
	streams streams
}

// receive passes orders on until dyno has ended, or speaks nonsense.
func (s *supervisor) receive(orders chan<- ordered) {
	defer close(orders)
	for {
		var o ordered
		if s.wire.receive(&o.order) != nil {
			return
		}
		var err error
		if o.streams, err = s.wire.files(o.Streams); err != nil {
			return
		}
		orders <- o
	}
}

func (s *supervisor) answer(o order, r reply) {
	r.Seq = o.Seq
	s.send(r)
}

func (s *supervisor) tell(e event) { s.send(reply{Event: &e}) }

// send does not mind that dyno is gone: the loop will see it.
func (s *supervisor) send(r reply) {
	if line, err := encode(r); err == nil { // a reply is small, and always can be
		s.wire.send(line)
	}
}

func (s *supervisor) handle(o ordered) {
	switch o.Do {
	case doOpen:
		s.answer(o.order, reply{Failure: s.open(*o.Spec)})
	case doStart:
		pid, failure := s.start(o)
		s.answer(o.order, reply{PID: pid, Failure: failure})
	case doReady:
		s.tasks.Go(func() { s.answer(o.order, reply{Failure: s.ready(s.child(o.ID))}) })
	case doFlush:
		for _, c := range s.children {
			c.log.flush() // what cannot be written is not there to be read
		}
		s.answer(o.order, reply{})
	case doSignal:
		if c := s.child(o.ID); c != nil {
			s.signal(c, o.Signal)
		}
		s.answer(o.order, reply{})
	case doStop:
		r := s.stop(time.Now().Add(time.Hour))
		s.answer(o.order, reply{Report: &r})
	}
}

func (s *supervisor) open(spec Spec) *Failure {
	s.spec = spec
	if spec.Netns != nil {
		err := spec.Netns.prepare()
		if err == nil {
			s.clients, err = spec.Netns.connect()
		}
		if err != nil {
			return &Failure{Kind: CannotStart, Reason: err.Error()}
		}
	}
	s.tasks.Go(func() {
		watch(spec.Dir, spec.DirMax, s.ctx.Done(), func() { s.full <- struct{}{} })
	})
	return nil
}

func (s *supervisor) child(id int) *child {
	at := slices.IndexFunc(s.children, func(c *child) bool { return c.id == id })
	if at < 0 {
		return nil
	}
	return s.children[at]
}

// ready waits until c answers.
func (s *supervisor) ready(c *child) *Failure {
	if c == nil || c.process.Ready == nil {
		return nil
	}
	w := witness{
		complains: c.log.portTaken,
		owns:      func(port int) bool { return ownsPort(os.Getpid(), port) },
	}
	failure := c.process.Ready.wait(s.ctx, w)
	if failure != nil {
		failure.Process, failure.Output = c.process.Name, c.log.lines()
	}
	return failure
}

// note takes account of a death: of a child, of one of its group, or of a stray.
func (s *supervisor) note(d death) {
	if d.none {
		s.reaping = false
		if slices.ContainsFunc(s.children, func(c *child) bool { return !c.ended }) {
			s.reap() // started after the reaper had looked
		}
		return
	}
	user, system := time.Duration(d.usage.Utime.Nano()), time.Duration(d.usage.Stime.Nano())
	for _, c := range s.children {
		if c.pid != d.pid && c.pid != d.group {
			continue
		}
		c.exit.User += user
		c.exit.System += system
		if c.pid == d.pid && !c.ended {
			c.end(d.status)
			s.ended(c)
		}
		return
	}
	s.strays.Processes++
	s.strays.User += user
	s.strays.System += system
}

func (c *child) end(status unix.WaitStatus) {
	c.ended = true
	c.exit.Code = status.ExitStatus()
	if status.Signaled() {
		c.exit.Signal = unix.SignalName(status.Signal())
	}
}

func (s *supervisor) reap() {
	if !s.reaping {
		s.reaping = true
		go reap(s.deaths)
	}
}

// ended tells dyno of the end of c, with its last words.
func (s *supervisor) ended(c *child) {
	if c.failed {
		return
	}
	exit, stopping := c.exit, s.ctx.Err() != nil
	forked := !stopping && slices.ContainsFunc(descendants(os.Getpid()), s.forkedFrom(c))
	s.tasks.Go(func() {
		select {
		case <-c.drained:
		case <-time.After(drainTime): // something of it lives, and holds the pipe
		}
		e := event{ID: c.id, Exit: &exit}
		if !c.guest && !stopping {
			f := Failure{Process: c.process.Name, Kind: Ended, Reason: exit.String(),
				Output: c.log.lines()}
			if forked {
				f.Reason += "; it left processes behind: a server must stay in the foreground"
			}
			if c.log.portTaken() {
				f.Kind = PortTaken
			}
			e.Failure = &f
		}
		s.tell(e)
	})
}

// forkedFrom tells whether a living process belongs to c's group or to nobody's.
func (s *supervisor) forkedFrom(c *child) func(procStat) bool {
	return func(p procStat) bool {
		owned := slices.ContainsFunc(s.children, func(o *child) bool { return o.pid == p.group })
		return !p.dead() && (p.group == c.pid || !owned)
	}
}
