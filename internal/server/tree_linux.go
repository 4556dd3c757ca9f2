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
	if err := t.startSupervisor(program, os.Geteuid() == 0); err != nil {
		return nil, err
	}
	go t.receiveReplies()
	if _, err := t.callSupervisor(context.Background(), order{Do: doOpen, Spec: &spec}); err != nil {
		_, unclean := t.stopAll()
		return nil, errors.Join(err, unclean)
	}
	return t, nil
}

// startSupervisor starts the supervisor. A root without the right to make a namespace,
// as in a container, tries as anybody else.
func (t *tree) startSupervisor(program string, asRoot bool) error {
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
		return t.startSupervisor(program, false)
	}
	return isRefused(err)
}

// receiveReplies hands replies to those who wait until the supervisor has ended.
func (t *tree) receiveReplies() {
	for {
		var r reply
		if t.wire.receiveMessage(&r) != nil {
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
		killSession(t.cmd.Process.Pid)
	}
	t.cmd.Wait() // how it ended says less than whether the report came
	if info, err := os.Stat(t.stderr); err == nil && info.Size() == 0 {
		os.Remove(t.stderr) // nothing to read is not worth a file
	}
	if lost {
		t.take(event{Failure: t.lostFailure()})
	}
	close(t.gone)
}

func (t *tree) lostFailure() *Failure {
	last, err := readTail(t.stderr, tailLines)
	if err != nil {
		last = ""
	}
	return &Failure{Kind: Lost, Output: last,
		Reason: "the supervisor of the servers has ended, and so have they"}
}

// killSession kills what a lost supervisor left: its session, until nothing is in it.
// The session's number stays taken for as long.
func killSession(session int) {
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

// callSupervisor sends an order and waits for what becomes of it.
func (t *tree) callSupervisor(ctx context.Context, o order, files ...*os.File) (reply, error) {
	waiting := make(chan reply, 1)
	t.mu.Lock()
	t.seq++
	o.Seq = t.seq
	t.waiting[o.Seq] = waiting
	t.mu.Unlock()
	defer t.forgetCall(o.Seq)
	line, err := encode(o)
	if err != nil {
		return reply{}, &Failure{Kind: CannotStart, Reason: err.Error()}
	}
	if err := t.wire.sendMessage(line, files...); err != nil {
		select {
		case <-t.gone:
			return reply{}, t.lostFailure()
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
			return reply{}, t.lostFailure()
		}
	}
	if r.Failure != nil {
		return r, r.Failure
	}
	return r, nil
}

func (t *tree) forgetCall(seq int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.waiting, seq)
}

func (t *tree) startProcess(id int, p Process, guest bool, s streams) (pid int, err error) {
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
	r, err := t.callSupervisor(context.Background(), o, files...)
	return r.PID, err
}

func (t *tree) awaitReady(ctx context.Context, id int) error {
	_, err := t.callSupervisor(ctx, order{Do: doReady, ID: id})
	return err
}

func (t *tree) flushLogs() error {
	select {
	case <-t.gone: // it flushed as it ended, or never will
		return nil
	default:
	}
	_, err := t.callSupervisor(context.Background(), order{Do: doFlush})
	return err
}

func (t *tree) sendSignal(id int, sig syscall.Signal) error {
	_, err := t.callSupervisor(context.Background(), order{Do: doSignal, ID: id, Signal: sig})
	return err
}

func (t *tree) stopAll() (Report, error) {
	t.mu.Lock()
	longest := t.longest + 2*killTime
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	r, err := t.callSupervisor(ctx, order{Do: doStop})
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
