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
	go s.receiveOrders(orders)
	for {
		select {
		case o, open := <-orders:
			if !open {
				s.stopAll(time.Now().Add(orphanTime))
				if s.spec.Temporary {
					return os.RemoveAll(s.spec.Dir)
				}
				return nil
			}
			s.handleOrder(o)
			if o.Do == doStop {
				return nil
			}
		case d := <-s.deaths:
			s.noteDeath(d)
		case <-s.full:
			s.cancel()
			s.killAll()
			s.sendEvent(event{Failure: dirFull(s.spec.Dir, s.spec.DirMax)})
		}
	}
}

// ordered is an order with the files that came with it.
type ordered struct {
	order
	streams streams
}

// receiveOrders passes orders on until dyno has ended, or speaks nonsense.
func (s *supervisor) receiveOrders(orders chan<- ordered) {
	defer close(orders)
	for {
		var o ordered
		if s.wire.receiveMessage(&o.order) != nil {
			return
		}
		var err error
		if o.streams, err = s.wire.takeFiles(o.Streams); err != nil {
			return
		}
		orders <- o
	}
}

func (s *supervisor) replyTo(o order, r reply) {
	r.Seq = o.Seq
	s.sendMessage(r)
}

func (s *supervisor) sendEvent(e event) { s.sendMessage(reply{Event: &e}) }

// sendMessage does not mind that dyno is gone: the loop will see it.
func (s *supervisor) sendMessage(r reply) {
	if line, err := encode(r); err == nil { // a reply is small, and always can be
		s.wire.sendMessage(line)
	}
}

func (s *supervisor) handleOrder(o ordered) {
	switch o.Do {
	case doOpen:
		s.replyTo(o.order, reply{Failure: s.prepareServer(*o.Spec)})
	case doStart:
		pid, failure := s.startProcess(o)
		s.replyTo(o.order, reply{PID: pid, Failure: failure})
	case doReady:
		s.tasks.Go(func() { s.replyTo(o.order, reply{Failure: s.awaitReady(s.childNamed(o.ID))}) })
	case doFlush:
		for _, c := range s.children {
			c.log.flushTail() // what cannot be written is not there to be read
		}
		s.replyTo(o.order, reply{})
	case doSignal:
		if c := s.childNamed(o.ID); c != nil {
			s.signalGroup(c, o.Signal)
		}
		s.replyTo(o.order, reply{})
	case doStop:
		r := s.stopAll(time.Now().Add(time.Hour))
		s.replyTo(o.order, reply{Report: &r})
	}
}

func (s *supervisor) prepareServer(spec Spec) *Failure {
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
		watchDirSize(spec.Dir, spec.DirMax, s.ctx.Done(), func() { s.full <- struct{}{} })
	})
	return nil
}

func (s *supervisor) childNamed(id int) *child {
	at := slices.IndexFunc(s.children, func(c *child) bool { return c.id == id })
	if at < 0 {
		return nil
	}
	return s.children[at]
}

// awaitReady waits until c answers.
func (s *supervisor) awaitReady(c *child) *Failure {
	if c == nil || c.process.Ready == nil {
		return nil
	}
	w := witness{
		complains: c.log.claimsPort, wrote: c.log.hasSought,
		owns:    func(port int) bool { return ownsPort(os.Getpid(), port) },
		listens: func() []int { return listenedPorts(c.pid) },
	}
	failure := c.process.Ready.awaitReady(s.ctx, w)
	if failure != nil {
		failure.Process, failure.Output = c.process.Name, c.log.lastLines()
	}
	return failure
}

// noteDeath takes account of a death: of a child, of one of its group, or of a stray.
func (s *supervisor) noteDeath(d death) {
	if d.none {
		s.reaping = false
		if slices.ContainsFunc(s.children, func(c *child) bool { return !c.ended }) {
			s.reapAll() // started after the reaper had looked
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
			c.recordExit(d.status)
			s.reportEnd(c)
		}
		return
	}
	s.strays.Processes++
	s.strays.User += user
	s.strays.System += system
}

func (c *child) recordExit(status unix.WaitStatus) {
	c.ended = true
	c.exit.Code = status.ExitStatus()
	if status.Signaled() {
		c.exit.Signal = unix.SignalName(status.Signal())
	}
}

func (s *supervisor) reapAll() {
	if !s.reaping {
		s.reaping = true
		go reapOne(s.deaths)
	}
}

// reportEnd tells dyno of the end of c, with its last words.
func (s *supervisor) reportEnd(c *child) {
	if c.failed {
		return
	}
	exit, stopping := c.exit, s.ctx.Err() != nil
	forked := !stopping && slices.ContainsFunc(listDescendants(os.Getpid()), s.forkedFrom(c))
	s.tasks.Go(func() {
		select {
		case <-c.drained:
		case <-time.After(drainTime): // something of it lives, and holds the pipe
		}
		e := event{ID: c.id, Exit: &exit}
		if !c.guest && !stopping {
			f := Failure{Process: c.process.Name, Kind: Ended, Reason: exit.String(),
				Output: c.log.lastLines()}
			if forked {
				f.Reason += "; it left processes behind: a server must stay in the foreground"
			}
			if c.log.claimsPort() {
				f.Kind = PortTaken
			}
			e.Failure = &f
		}
		s.sendEvent(e)
	})
}

// forkedFrom tells whether a living process belongs to c's group or to nobody's.
func (s *supervisor) forkedFrom(c *child) func(procStat) bool {
	return func(p procStat) bool {
		owned := slices.ContainsFunc(s.children, func(o *child) bool { return o.pid == p.group })
		return !p.dead() && (p.group == c.pid || !owned)
	}
}
