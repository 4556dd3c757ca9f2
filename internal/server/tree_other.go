//go:build !linux

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A tree is the processes themselves: there is no supervisor here, and what
// they fork is out of reach.
type tree struct {
	spec Spec
	take func(event)
	done chan struct{} // closed by stop: the directory is watched no more

	mu       sync.Mutex
	children []*child
	stopping bool
}

type child struct {
	id      int
	process Process
	guest   bool
	cmd     *exec.Cmd
	log     *log
	ended   chan struct{}
	exit    Exit // when ended is closed
}

// Supervise exists on Linux only.
func Supervise([]string) error {
	return errors.New("servers have no supervisor on this system")
}

func openTree(spec Spec, take func(event)) (*tree, error) {
	if spec.Netns != nil {
		return nil, &Failure{Kind: CannotStart, Reason: "network namespaces exist on Linux only"}
	}
	t := &tree{spec: spec, take: take, done: make(chan struct{})}
	go watchDirSize(spec.Dir, spec.DirMax, t.done, func() {
		t.end()
		take(event{Failure: dirFull(spec.Dir, spec.DirMax)})
	})
	return t, nil
}

func (t *tree) startProcess(id int, p Process, guest bool, s streams) (pid int, err error) {
	failure := &Failure{Process: p.Name, Kind: CannotStart}
	switch {
	case p.User != "" || p.NoFile != 0 || len(p.CPUs) > 0:
		failure.Reason = "users, limits and CPUs can be set on Linux only"
		return 0, failure
	case p.Ready != nil && p.Ready.isTaken():
		failure.Kind = PortTaken
		failure.Reason = "somebody already listens where " + p.Ready.URL + " leads"
		return 0, failure
	}
	c := &child{id: id, process: p, guest: guest, ended: make(chan struct{})}
	if c.log, err = openLog(p.Output, p.sought()); err != nil {
		failure.Reason = err.Error()
		return 0, failure
	}
	c.cmd = exec.Command(p.Args[0], p.Args[1:]...)
	c.cmd.Dir, c.cmd.WaitDelay = p.Dir, drainTime
	c.cmd.Env = append([]string{}, p.Env...) // never nil, which would be ours
	if s[0] != nil {
		c.cmd.Stdin = s[0]
	}
	c.cmd.Stdout, c.cmd.Stderr = s.output(c.log)
	if err := c.cmd.Start(); err != nil {
		failure.Reason = err.Error()
		return 0, failure
	}
	t.mu.Lock()
	t.children = append(t.children, c)
	t.mu.Unlock()
	go t.wait(c)
	return c.cmd.Process.Pid, nil
}

// output is where a process's stdout and stderr go: the caller's file or else
// the log.
func (s streams) output(log *log) (stdout, stderr io.Writer) {
	stdout, stderr = log, log
	if s[1] != nil {
		stdout = s[1]
	}
	if s[2] != nil {
		stderr = s[2]
	}
	return stdout, stderr
}

// wait waits for the end of c and tells it.
func (t *tree) wait(c *child) {
	c.cmd.Wait() // its error is in the state
	state := c.cmd.ProcessState
	c.exit.Name, c.exit.PID, c.exit.Code = c.process.Name, state.Pid(), state.ExitCode()
	c.exit.User, c.exit.System = state.UserTime(), state.SystemTime()
	if c.exit.Code < 0 {
		c.exit.Signal = state.String()
	}
	close(c.ended)
	exit := c.exit
	e := event{ID: c.id, Exit: &exit}
	t.mu.Lock()
	stopping := t.stopping
	t.mu.Unlock()
	if !c.guest && !stopping {
		e.Failure = &Failure{Process: c.process.Name, Kind: Ended, Reason: exit.String(),
			Output: c.log.lastLines()}
		if c.log.claimsPort() {
			e.Failure.Kind = PortTaken
		}
	}
	t.take(e)
}

func (t *tree) child(id int) *child {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.IndexFunc(t.children, func(c *child) bool { return c.id == id })
	if at < 0 {
		return nil
	}
	return t.children[at]
}

func (t *tree) awaitReady(ctx context.Context, id int) error {
	c := t.child(id)
	w := witness{complains: c.log.claimsPort, wrote: c.log.hasSought,
		owns:    func(int) bool { return true },
		listens: func() []int { return nil }} // not known here
	if f := c.process.Ready.awaitReady(ctx, w); f != nil {
		f.Process, f.Output = c.process.Name, c.log.lastLines()
		return f
	}
	return nil
}

func (t *tree) flushLogs() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.children {
		if err := c.log.flushTail(); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) sendSignal(id int, sig syscall.Signal) error {
	c := t.child(id)
	if c == nil {
		return nil
	}
	if err := c.cmd.Process.Signal(sig); err != nil {
		select {
		case <-c.ended:
			return nil
		default:
			return fmt.Errorf("signal to %s: %w", c.process.Name, err)
		}
	}
	return nil
}

func (t *tree) stopAll() (Report, error) {
	close(t.done)
	return t.end(), t.flushLogs()
}

// end stops the processes in reverse order.
func (t *tree) end() (report Report) {
	began := time.Now()
	t.mu.Lock()
	t.stopping = true
	children := slices.Clone(t.children)
	t.mu.Unlock()
	for _, c := range slices.Backward(children) {
		grace := c.process.Grace
		if c.cmd.Process.Signal(c.process.Stop) != nil {
			grace = 0 // Windows has no signals
		}
		killed := false
		select {
		case <-c.ended:
		case <-time.After(grace):
			killed = c.cmd.Process.Kill() == nil
			<-c.ended
		}
		if killed {
			report.Killed = append(report.Killed, c.process.Name)
		}
		exit := c.exit
		exit.Killed = killed
		report.Exits = append(report.Exits, exit)
	}
	slices.Reverse(report.Exits)
	report.Seconds = time.Since(began).Seconds()
	return report
}
