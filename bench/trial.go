package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A trial is one load by one tool, and its values.
type trial struct {
	Tool   string  `json:"tool"`
	Round  int     `json:"round"`
	Values reading `json:"values,omitempty"`
	Error  string  `json:"error,omitempty"`
	// Calls: it was made under perf, after the rounds, to count system calls.
	Calls bool `json:"calls,omitempty"`
}

// String describes the trial in one line of progress.
func (t trial) String() string {
	if t.Error != "" {
		return t.Tool + ": " + t.Error
	}
	if ms, idle := t.Values[startUp]; idle {
		return fmt.Sprintf("%s: %.2f ms", t.Tool, ms)
	}
	return fmt.Sprintf("%s: %s req/s, %.2f µs CPU/req", t.Tool,
		formatValue(rate, t.Values[rate]), t.Values[cpu])
}

// The part of a trial's duration in which the server's count makes the rate: all tools have
// started by then, and none has begun to stop.
const rateFrom, rateTo = 0.2, 0.9

// loadTimeoutSlack is how much longer than its load a tool may take, to start, drain and print.
const loadTimeoutSlack = 30 * time.Second

// runTrial makes one trial of a row.
func (b *bench) runTrial(ctx context.Context, r row, t tool) (reading, error) {
	if r.idle {
		return b.measureStarts(ctx, t)
	}
	v, err := b.runLoad(ctx, r, t)
	if err != nil || !r.memory {
		return v, err
	}
	many := r.load.connections
	r.load.connections = 1
	one, err := b.runLoad(ctx, r, t)
	if err != nil {
		return nil, fmt.Errorf("with one connection: %w", err)
	}
	if one[peak] > 0 {
		v[perConn] = (v[peak] - one[peak]) * (1 << 20) / float64(many-1)
	}
	return v, nil
}

// runLoad runs the tool once against a new server.
func (b *bench) runLoad(ctx context.Context, r row, t tool) (v reading, err error) {
	limit := time.Duration(r.load.seconds)*time.Second + loadTimeoutSlack
	ctx, cancel := context.WithTimeoutCause(ctx, limit,
		fmt.Errorf("not done after %v", limit))
	defer cancel()
	s, err := b.startRowServer(ctx, r)
	if err != nil {
		return nil, err
	}
	v, err = measureLoad(ctx, s, b.generatorCPUs(r), t, r.load)
	v.compareLittle(r.load)
	if err = errors.Join(err, s.stopServer()); err == nil && r.logged { // it is written when it ends
		err = v.compareTruth(b.logFile(), r.load)
	}
	return v, err
}

// generatorCPUs returns the CPUs of the row's tools.
func (b *bench) generatorCPUs(r row) []int {
	if r.unpinned {
		return nil
	}
	return b.genCPUs
}

// logFile is where a server logs if its row asks for it.
func (b *bench) logFile() string { return filepath.Join(b.dir, "served.csv") }

var errNotTried = errors.New("not tried")

// manyConnections is from how many connections on dyno target takes less CPU with io_uring.
const manyConnections = 8

// startRowServer starts the row's server.
func (b *bench) startRowServer(ctx context.Context, r row) (*server, error) {
	cpus := b.serverCPUs
	if r.unpinned {
		cpus = nil
	}
	if r.server == targetServer {
		args := append([]string{"target", "--listen", "127.0.0.1:0"}, r.serverArgs...)
		if r.logged {
			args = append(args, "--log", b.logFile())
		}
		s, err := (*server)(nil), errNotTried
		if r.load.connections >= manyConnections { // so that it is not what limits the load
			s, err = startServer(ctx, cpus, "/", b.tools[0].path, append(args, "--ring", "uring")...)
		}
		if err != nil { // not permitted here, perhaps
			s, err = startServer(ctx, cpus, "/", b.tools[0].path, args...)
		}
		if err == nil {
			s.singleProcess = true
		}
		return s, err
	}
	switch r.server {
	case nginxServer:
		return startNginx(ctx, cpus, b.dir, r.load)
	case caddyServer:
		return startCaddy(ctx, cpus, b.dir)
	case handlerServer:
		return startHandler(ctx, cpus, b.dir)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("the row needs Node.js: %w", err)
	}
	script := filepath.Join(b.dir, "node.js")
	if err := os.WriteFile(script, nodeSource, 0o600); err != nil {
		return nil, fmt.Errorf("write the server's source: %w", err)
	}
	return startServer(ctx, cpus, "/index.html", node, script)
}

// measureLoad runs the tool against the server and returns what the server, the kernel and the
// tool report.
func measureLoad(ctx context.Context, s *server, cpus []int, t tool, l load) (reading, error) {
	before, _, err := s.requestsServed(ctx)
	if err != nil {
		return nil, err
	}
	others, own := s.watchOthers(), cpuTime(s.cmd.Process.Pid)
	var perSecond float64
	var polled error
	poll := func(ctx context.Context, start time.Time) {
		perSecond, polled = s.requestRate(ctx, start, time.Duration(l.seconds)*time.Second)
	}
	c := t.command(l, s.url)
	remove, err := c.writeScript()
	if err != nil {
		return nil, err
	}
	defer remove()
	output, took, err := runPinned(ctx, cpus, t.path, c, poll)
	if err = errors.Join(err, polled); err != nil {
		return nil, err
	}
	share, known := others(took)
	own = cpuTime(s.cmd.Process.Pid) - own
	after, _, err := s.requestsServed(ctx)
	if err != nil {
		return nil, err
	}
	v := reading{}
	if t.parseOutput != nil {
		if v, err = t.parseOutput(output); err != nil {
			return nil, err
		}
	}
	if after <= before {
		return nil, fmt.Errorf("the server counted no request: %s", firstLine(output))
	}
	v.addUsage(after-before, took)
	if v[rate] = perSecond; known {
		v[foreign] = share
	}
	if s.singleProcess && own > 0 {
		v[serverCPU] = own.Seconds() * 1e6 / (after - before)
	}
	return v, nil
}

// addUsage is what a process took for the requests that the server counted.
func (r reading) addUsage(count float64, took usage) {
	r[served] = count
	r[user] = took.user.Seconds() * 1e6 / count
	r[system] = took.system.Seconds() * 1e6 / count
	r[cpu] = r[user] + r[system]
	if took.peak > 0 {
		r[peak] = float64(took.peak) / (1 << 20)
	}
}

// watchOthers measures what other programs use. The function that it returns takes the
// generator's usage and returns the others' in % of one CPU, or that it is unknown.
func (s *server) watchOthers() func(generator usage) (percent float64, known bool) {
	began, all, own := time.Now(), busyTime(), cpuTime(s.cmd.Process.Pid)
	return func(generator usage) (float64, bool) {
		if all == 0 || !s.singleProcess {
			return 0, false
		}
		rest := busyTime() - all - (cpuTime(s.cmd.Process.Pid) - own) - generator.user - generator.system
		return max(0, 100*rest.Seconds()/time.Since(began).Seconds()), true // ticks are coarse
	}
}

// requestRate returns how many requests a second the server counts between two instants of a
// load.
func (s *server) requestRate(ctx context.Context, start time.Time, length time.Duration) (
	float64, error) {
	var count [2]float64
	var at [2]time.Time
	for i, part := range []float64{rateFrom, rateTo} {
		until := start.Add(time.Duration(part * float64(length)))
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("the tool ended after %v of %v",
				time.Since(start).Round(time.Millisecond), length)
		case <-time.After(time.Until(until)):
		}
		var err error
		if count[i], at[i], err = s.requestsServed(ctx); err != nil {
			return 0, err
		}
	}
	return (count[1] - count[0]) / at[1].Sub(at[0]).Seconds(), nil
}
