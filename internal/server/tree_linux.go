package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// A tree is the supervisor and what is below it, as dyno sees them.
type tree struct {
	spec   Spec
	cmd    *exec.Cmd
	stderr string // file of what the supervisor itself complains of
	wire   *wire
	take   func(event)
	gone   chan struct{} // closed when the supervisor has ended and been waited for

	mu      sync.Mutex
	seq     int
	waiting map[int]chan reply
	longest time.Duration // that all graces can take
	stopped bool          // the report has come: its end is no loss
}

func openTree(spec Spec, take func(event)) (*tree, error) {
	if len(spec.Supervisor) == 0 {
		return nil, errors.New("start a server: no supervisor is named")
	}
	program, err := exec.LookPath(spec.Supervisor[0])
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return nil, fmt.Errorf("supervisor of servers: %w", err)
	}
	t := &tree{spec: spec, take: take, gone: make(chan struct{}), waiting: map[int]chan reply{},
		stderr: filepath.Join(spec.Dir, "supervisor.err")}
	if err := t.execute(program, os.Geteuid() == 0); err != nil {
		return nil, err
	}
	go t.receive()
	if _, err := t.call(context.Background(), order{Do: doOpen, Spec: &spec}); err != nil {
		_, unclean := t.stop()
		return nil, errors.Join(err, unclean)
	}
	return t, nil
}

// execute starts the supervisor. A root without the right to make a namespace,
// as in a container, tries as anybody else.
func (t *tree) execute(program string, asRoot bool) error {
	w, theirs, err := socketPair()
	if err != nil {
		return fmt.Errorf("socket to the supervisor of servers: %w", err)
	}
	defer theirs.Close()
	stderr, err := createIn(t.spec.Dir, filepath.Base(t.stderr), 0o600)
	if err != nil {
		return errors.Join(fmt.Errorf("output of the supervisor: %w", err), w.conn.Close())
	}
	defer stderr.Close()
	t.wire = w
	t.cmd = &exec.Cmd{Path: program, Args: t.spec.Supervisor, Dir: "/", Stderr: stderr,
		ExtraFiles: []*os.File{theirs}, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if t.spec.Netns != nil {
		t.spec.Netns.isolate(t.cmd, asRoot)
	}
	err = t.cmd.Start()
	if err == nil {
		return nil
	}
	w.conn.Close()
	if t.spec.Netns == nil {
		return fmt.Errorf("start the supervisor of servers: %w", err)
	}
	if asRoot && errors.Is(err, syscall.EPERM) {
		return t.execute(program, false)
	}
	return refused(err)
}

// receive hands replies to those who wait until the supervisor has ended.
func (t *tree) receive() {
	for {
		var r reply
		if t.wire.receive(&r) != nil {
			break
		}
		if r.Event != nil {
			t.take(*r.Event)
			continue
		}
		t.mu.Lock()
		waiting := t.waiting[r.Seq]
		delete(t.waiting, r.Seq)
		t.stopped = t.stopped || r.Report != nil
		t.mu.Unlock()
		if waiting != nil {
			waiting <- r
		}
	}
	t.mu.Lock()
	lost := !t.stopped
	t.mu.Unlock()
	if lost {
		t.cmd.Process.Kill() // it may only have become silent
		sweep(t.cmd.Process.Pid)
	}
	t.cmd.Wait() // how it ended says less than whether the report came
	if info, err := os.Stat(t.stderr); err == nil && info.Size() == 0 {
		os.Remove(t.stderr) // nothing to read is not worth a file
	}
	if lost {
		t.take(event{Failure: t.lost()})
	}
	close(t.gone)
}

func (t *tree) lost() *Failure {
	last, err := tail(t.stderr, tailLines)
	if err != nil {
		last = ""
	}
	return &Failure{Kind: Lost, Output: last,
		Reason: "the supervisor of the servers has ended, and so have they"}
}

// sweep kills what a lost supervisor left: its session, until nothing is in it.
// The session's number stays taken for as long.
func sweep(session int) {
	for deadline := time.Now().Add(killTime); time.Now().Before(deadline); {
		found := false
		for _, p := range processes() {
			if p.session == session && p.pid != session && !p.dead() {
				found = true
				syscall.Kill(p.pid, syscall.SIGKILL)
			}
		}
		if !found {
			return
		}
		time.Sleep(lookEvery)
	}
}

// call sends an order and waits for what becomes of it.
func (t *tree) call(ctx context.Context, o order, files ...*os.File) (reply, error) {
	waiting := make(chan reply, 1)
	t.mu.Lock()
	t.seq++
	o.Seq = t.seq
	t.waiting[o.Seq] = waiting
	t.mu.Unlock()
	defer t.forget(o.Seq)
	line, err := encode(o)
	if err != nil {
		return reply{}, &Failure{Kind: CannotStart, Reason: err.Error()}
	}
	if err := t.wire.send(line, files...); err != nil {
		select {
		case <-t.gone:
			return reply{}, t.lost()
		case <-time.After(killTime):
			return reply{}, fmt.Errorf("order to the supervisor of servers: %w", err)
		}
	}
	var r reply
	select {
	case r = <-waiting:
	case <-ctx.Done():
		return reply{}, ctx.Err()
	case <-t.gone:
		select {
		case r = <-waiting: // the last word: the report
		default:
			return reply{}, t.lost()
		}
	}
	if r.Failure != nil {
		return r, r.Failure
	}
	return r, nil
}

func (t *tree) forget(seq int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.waiting, seq)
}

func (t *tree) start(id int, p Process, guest bool, s streams) (pid int, err error) {
	o := order{Do: doStart, ID: id, Process: &p, Guest: guest}
	var files []*os.File
	for i, file := range s {
		if file != nil {
			o.Streams[i] = true
			files = append(files, file)
		}
	}
	t.mu.Lock()
	t.longest += p.Grace
	t.mu.Unlock()
	r, err := t.call(context.Background(), o, files...)
	return r.PID, err
}

func (t *tree) ready(ctx context.Context, id int) error {
	_, err := t.call(ctx, order{Do: doReady, ID: id})
	return err
}

func (t *tree) flush() error {
	select {
	case <-t.gone: // it flushed as it ended, or never will
		return nil
	default:
	}
	_, err := t.call(context.Background(), order{Do: doFlush})
	return err
}

func (t *tree) signal(id int, sig syscall.Signal) error {
	_, err := t.call(context.Background(), order{Do: doSignal, ID: id, Signal: sig})
	return err
}

func (t *tree) stop() (Report, error) {
	t.mu.Lock()
	longest := t.longest + 2*killTime
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	r, err := t.call(ctx, order{Do: doStop})
	t.wire.conn.Close() // receive ends, and kills a supervisor that did not report
	<-t.gone
	if err != nil {
		return Report{}, fmt.Errorf("stop the servers: %w", err)
	}
	if r.Report.Left > 0 {
		return *r.Report, fmt.Errorf("stop the servers: %d processes cannot be killed", r.Report.Left)
	}
	return *r.Report, nil
}
