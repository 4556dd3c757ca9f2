//go:build linux && slow

package fleet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fleet/wire"
)

// simulatedEnv has a test process be so many agents on a bus, which load nothing and report
// as much as agents do that complete 100,000 requests a second each.
const simulatedEnv = "DYNO_SIMULATED_AGENTS"

// What 200 agents cost their controller and its bus, which are this process; with
// DYNO_AGENTS=1000 in the environment so many.
func TestManyAgents(t *testing.T) {
	if how := os.Getenv(simulatedEnv); how != "" {
		url, n, _ := strings.Cut(how, " ")
		count, _ := strconv.Atoi(n)
		startSimulated(t, url, count)
		return
	}
	agents, seconds := 200, 20
	if n, err := strconv.Atoi(os.Getenv("DYNO_AGENTS")); err == nil {
		agents = n
	}
	w := newWorld(t)
	child := exec.Command(os.Args[0], "-test.run=^TestManyAgents$", "-test.v")
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", simulatedEnv, w.bus, agents))
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	child.Stdout, child.Stderr = os.Stderr, os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		child.Process.Kill()
		child.Wait()
	})
	for there := 0; there < agents; {
		all, err := Discover(t.Context(), w.connect(), nil, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		there = len(all)
	}
	p := w.newPlan(0, time.Duration(seconds)*time.Second, agents*4)
	var cpu time.Duration
	var at time.Time
	r, err := w.tryRun(t.Context(), w.newController(), p, func(iv loadresult.Interval) {
		if iv.Index == 0 {
			cpu, at = processCPUTime(), time.Now()
		}
		if iv.Index == seconds-1 {
			t.Logf("%d agents: %.1f %% of a core, while their reports came", agents,
				100*float64(processCPUTime()-cpu)/float64(time.Since(at)))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Fleet.AddsUp || len(r.Fleet.Agents) != agents || r.Fleet.Lost() != nil {
		t.Errorf("%d agents, adds up: %v, lost: %d, the first: %s", len(r.Fleet.Agents), r.Fleet.AddsUp,
			len(r.Fleet.Lost()), r.Fleet.Agents[0].Lost)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(peak, "\n")
	t.Logf("%d agents: peak memory %s, %d requests, %v of CPU in all", agents, strings.TrimSpace(peak), r.Requests.Completed,
		processCPUTime().Round(10*time.Millisecond))
}

// processCPUTime is the CPU time of this process.
func processCPUTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// startSimulated is n agents until the process is killed.
func startSimulated(t *testing.T, url string, n int) {
	h := metric.NewHistogram(metric.Fine)
	coin := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		h.Record(int64(1e6 * math.Exp(coin.NormFloat64())))
	}
	var all sync.WaitGroup
	for i := range n {
		c, err := nats.Connect(url)
		if err != nil {
			t.Fatal(err)
		}
		key, err := nkeys.CreateCurveKeys()
		if err != nil {
			t.Fatal(err)
		}
		s := &simulated{name: fmt.Sprintf("agent-%d", i), conn: c, key: key, second: h, clock: newClock(0)}
		all.Go(func() { s.serveAgent(t) })
	}
	all.Wait()
}

// A simulated agent says what one would.
type simulated struct {
	name   string
	conn   *nats.Conn
	key    nkeys.KeyPair
	second *metric.Histogram
	clock  clock
	of     wire.RunRef
	plan   loadplan.Plan
	data   []byte
	spool  spool
}

func (s *simulated) publishEvent(what string, m any) {
	s.conn.Publish(wire.EventSubject(s.name, what), wire.Encode(m))
}

func (s *simulated) serveAgent(t *testing.T) {
	heard := make(chan *nats.Msg, 4096)
	for _, name := range []string{s.name, wire.Everyone} {
		if _, err := s.conn.ChanSubscribe(wire.CommandsPattern(name), heard); err != nil {
			t.Error(err)
		}
	}
	do := make(chan func())
	for timer := time.Tick(heartbeatInterval); ; {
		select {
		case m := <-heard:
			s.handleCommand(t, m, do)
		case f := <-do:
			f()
		case <-timer:
			if s.of.Run != "" {
				s.publishEvent(wire.Alive, s.of)
			}
		}
	}
}

func (s *simulated) handleCommand(t *testing.T, m *nats.Msg, do chan<- func()) {
	now := time.Now()
	switch _, verb, _ := wire.ParseSubject(m.Subject); verb {
	case wire.WhoIsThere:
		var q wire.DiscoveryQuery
		wire.Decode(m.Data, &q)
		public, _ := s.key.PublicKey()
		s.publishEvent(wire.Present, wire.Hello{QueryID: q.QueryID, Epoch: "e", Version: loadplan.Version, Weight: 1,
			Geometry: wire.Geometry(), Key: public, Clock: now})
	case wire.DeliverPlan:
		var p wire.Piece
		wire.Decode(m.Data, &p)
		_, plan, err := wire.OpenOrder(p.Data, p.From, s.key, func(_, _ []byte) error { return nil })
		if err != nil {
			t.Error(err)
		}
		s.of, s.plan = p.RunRef, plan
		s.publishEvent(wire.OrderAnswered, wire.Answer{RunRef: s.of})
	case wire.OpenConnections:
		s.publishEvent(wire.ConnectionsOpen, s.of)
	case wire.SyncClock:
		var q wire.ClockSync
		wire.Decode(m.Data, &q)
		q.Epoch, q.ReceivedAt, q.RepliedAt = s.of.Epoch, s.clock.readingAt(now), s.clock.currentReading()
		s.publishEvent(wire.ClockSynced, q)
	case wire.Acknowledge:
		var a wire.Ack
		wire.Decode(m.Data, &a)
		s.spool.acknowledgeUpTo(a.Seq, now)
		for _, text := range s.spool.dueReports(now) {
			s.conn.Publish(wire.EventSubject(s.name, wire.Reported), text)
		}
	case wire.Arm:
		i, err := wire.ParseInstruction(m.Data, func(_, _ []byte) error { return nil })
		if err != nil {
			t.Error(err)
		}
		s.publishEvent(wire.Armed, s.of)
		go s.simulateLoad(t, s.clock.instantOf(i.Start), do)
	}
}

// simulateLoad reports seconds, all alike, and at last the rest.
func (s *simulated) simulateLoad(t *testing.T, begin time.Time, do chan<- func()) {
	n := s.second.Count
	report := func(m wire.Report) {
		do <- func() {
			s.spool.addReport(m)
			for _, text := range s.spool.dueReports(time.Now()) {
				s.conn.Publish(wire.EventSubject(s.name, wire.Reported), text)
			}
		}
	}
	for i := range int(time.Duration(s.plan.Duration) / time.Second) {
		to := time.Duration(i+1) * time.Second
		time.Sleep(time.Until(begin.Add(to)))
		iv := loadresult.Interval{Index: i, From: to - time.Second, To: to, Sent: n, Completed: n,
			Received: 100 * n, Written: 50 * n, Status: map[uint16]int64{200: n}, Latency: s.second.ToSparse()}
		iv.Measure()
		report(wire.Report{RunRef: s.of, Tick: &iv})
	}
	r := &loadresult.Result{Ended: loadresult.ByDuration, Measured: time.Duration(s.plan.Duration), Totals: loadresult.NewTotals()}
	r.FirstByte.RecordMany(1e6, n)
	f := wire.Final{Result: r.Told(), Threads: 1, Start: s.clock.readingAt(begin)}
	pieces := wire.SplitPieces(f.Pack(), wire.FinalPieceMax)
	for i, data := range pieces {
		report(wire.Report{RunRef: s.of, Data: data, Last: i == len(pieces)-1})
	}
}
