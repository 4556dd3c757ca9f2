//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"dyno/bench/streams/served"
)

// most is how long a load may take, with the start of the tool.
const most = 5 * time.Minute

// How often the server's counts and the tool's CPU time are read: before the first stream, so that
// little of the tool's start is taken for load, and then.
const (
	before = 10 * time.Millisecond
	then   = 100 * time.Millisecond
)

// run has a tool make a load.
func (b *bench) run(ctx context.Context, t tool, path string, streams int) (r row, err error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	last := strconv.Itoa(runtime.NumCPU() - 1)
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	file := filepath.Join(b.dir, "served.csv")
	config, err := json.Marshal(served.Server{Law: law, OpenAI: true, File: file})
	if err != nil {
		return r, err
	}
	server, err := served.Start(ctx, file, "taskset", "-c", last, self, "-serve", string(config))
	if err != nil {
		return r, err
	}
	wanted := requests(streams)
	l := load{dir: filepath.Join(b.dir, t.name), tokenizer: tokenizerOf(b.dir),
		url: "http://" + server.Address, streams: streams, requests: wanted}
	if err := os.RemoveAll(l.dir); err != nil {
		return r, err
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return r, err
	}
	command, err := t.command(l)
	if err != nil {
		return r, err
	}
	others := "0-" + strconv.Itoa(max(runtime.NumCPU()-2, 0))
	cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", others, path}, command...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Dir = l.dir
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	usage, err := runWatched(cmd, l.url)
	if err != nil {
		return r, fmt.Errorf("%w: %s", err, tail(said.String()))
	}
	truth, err := server.Stop()
	if err != nil {
		return r, err
	}
	first := max(len(truth)-wanted, 0) // some tools ask once before the load
	r.truth, r.lost = truth[first:].Sent(), wanted-len(truth[first:])
	for _, s := range truth[first:] {
		r.events += len(s.Events)
	}
	r.cpu = usage.between(int64(first), int64(len(truth)))
	r.total = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	r.said, err = t.read(l)
	return r, err
}

// tail is the end of what a program said, in a line.
func tail(text string) string {
	return strings.Join(strings.Fields(text[max(len(text)-600, 0):]), " ")
}

// A usage is what a tool had used when the server had begun and ended so many streams.
type usage []used

type used struct {
	served.Counts
	cpu float64 // s
}

// between is the CPU time from just before the server had more than first streams to when it had
// ended all.
func (u usage) between(first, all int64) float64 {
	from, till := 0.0, 0.0
	for _, at := range u {
		if at.Begun <= first {
			from = at.cpu
		}
		till = at.cpu // at the latest when the tool ended
		if at.Ended >= all {
			break
		}
	}
	return till - from
}

// runWatched runs a tool, and reads meanwhile what it uses.
func runWatched(cmd *exec.Cmd, url string) (all usage, err error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(before)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return all, err
		case <-tick.C:
		}
		r, err := http.Get(url + "/served")
		if err != nil {
			continue
		}
		var c served.Counts
		if json.NewDecoder(r.Body).Decode(&c) == nil {
			all = append(all, used{c, sessionCPU(cmd.Process.Pid)})
			if c.Begun > 0 {
				tick.Reset(then)
			}
		}
		r.Body.Close()
	}
}

// sessionCPU is the CPU time of all processes of a session, and of those that they have waited for,
// in s.
func sessionCPU(session int) (s float64) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) < 15 || fields[3] != strconv.Itoa(session) {
			continue
		}
		const schedulerClock = 2 // of clock numbers made from a process, as in linux/posix-timers.h
		var t unix.Timespec
		if unix.ClockGettime(int32(^pid<<3|schedulerClock), &t) == nil {
			s += float64(t.Nano()) / 1e9
		}
		for _, ticks := range fields[13:15] { // of children that have ended
			n, _ := strconv.ParseFloat(ticks, 64)
			s += n / 100
		}
	}
	return s
}
