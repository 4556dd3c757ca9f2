package fleet

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/fleet/policy"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
	"dyno/internal/target"
)

// Tests here mostly wait until an agent is missed: many can do so at once.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// A world is a bus, a server that counts, and the key of who runs the fleet.
type world struct {
	t      *testing.T
	bus    string
	target *target.Server
	key    nkeys.KeyPair
	public nkeys.KeyPair
	end    func() // of the server; then all is counted
	agents []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true,
		NoLog: true, NoSystemAccount: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the bus does not start")
	}
	w := &world{t: t, bus: s.ClientURL()}
	if w.target, err = target.Listen(target.Config{Addr: "127.0.0.1:0"}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- w.target.Serve(ctx) }()
	w.end = sync.OnceFunc(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.end)
	if w.key, err = nkeys.CreateUser(); err != nil {
		t.Fatal(err)
	}
	public, err := w.key.PublicKey()
	if err == nil {
		w.public, err = nkeys.FromPublicKey(public)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// servedCount is how many requests the server has answered.
func (w *world) servedCount() int64 { return int64(w.target.Served().Requests) }

func (w *world) connect() *nats.Conn {
	w.t.Helper()
	c, err := nats.Connect(w.bus, nats.ReconnectWait(50*time.Millisecond), nats.MaxReconnects(-1),
		nats.Timeout(time.Minute))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return c
}

// startAgent starts an agent. What it returns ends it.
func (w *world) startAgent(name string, weight int, change ...func(*Agent)) (*nats.Conn, func()) {
	w.t.Helper()
	a := &Agent{Conn: w.connect(), Name: name, Weight: weight, Verify: w.public.Verify}
	for _, f := range change {
		f(a)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx) }()
	end := sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(end)
	w.awaitAgent(name)
	if !slices.Contains(w.agents, name) {
		w.agents = append(w.agents, name)
	}
	return a.Conn, end
}

// awaitAgent waits until an agent of that name is there.
func (w *world) awaitAgent(name string) {
	w.t.Helper()
	for range 300 {
		if all, err := Discover(w.t.Context(), w.connect(), []string{name}, 200*time.Millisecond); err != nil {
			w.t.Fatal(err)
		} else if slices.ContainsFunc(all, func(a FoundAgent) bool { return a.Name == name }) {
			return
		}
	}
	w.t.Fatalf("%s does not come", name)
}

// newController is one of those agents, or of all. It begins however well clocks are known: that
// is the machine's, and TestLooseStart has what becomes of it.
func (w *world) newController(names ...string) *Controller {
	if len(names) == 0 {
		names = slices.Clone(w.agents)
	}
	return &Controller{Conn: w.connect(), Names: names, Sign: w.key.Sign, TotalThreads: true, LooseStart: true,
		Progress: func(line string) { w.t.Log(line) }}
}

// newPlan loads the server from few connections. What was due is sent and answered before it ends,
// however late.
func (w *world) newPlan(rate float64, duration time.Duration, connections int) loadplan.Plan {
	at := w.target.Addr().String()
	to := netip.MustParseAddrPort(at)
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://" + at + "/", Host: to.Addr().String(), Port: to.Port()}
	p.Requests = []loadplan.Request{{Weight: 1, Request: proto.Request{Method: "GET", Authority: at, Path: "/"}}}
	p.Rate, p.Duration, p.Connections, p.Threads = loadplan.RatePerSecond(rate), loadplan.Seconds(duration), connections, 3
	p.Drain, p.Timeout = loadplan.Seconds(time.Minute), loadplan.Seconds(time.Minute)
	return p
}

// tooBusy is what a run before its start says of agents that did not hear in time: those of
// the tests are there, so the machine was busy.
var tooBusy = regexp.MustCompile(`was lost before the start|no agent is there|` +
	`\b[abc] does not answer|no answer to what this agent said of late`)

// tryRun is c.Run, again where a busy machine kept it from the start. Nothing was sent then.
func (w *world) tryRun(ctx context.Context, c *Controller, p loadplan.Plan, each func(loadresult.Interval)) (
	r *result.Result, err error) {
	w.t.Helper()
	for try := range 5 {
		r, err = c.Run(ctx, p, each)
		if err == nil || !tooBusy.MatchString(err.Error()) {
			break
		}
		w.t.Logf("try %d: %v", try+1, err)
	}
	return r, err
}

// mustRun is an attempt that must work.
func (w *world) mustRun(c *Controller, p loadplan.Plan) *result.Result {
	w.t.Helper()
	r, err := w.tryRun(w.t.Context(), c, p, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// checkServed checks that what the result says was sent is what the server had, and that all
// sums are right.
func (w *world) checkServed(r *result.Result) {
	w.t.Helper()
	w.end()
	q := r.Requests
	if n := w.servedCount(); n != q.Sent || q.Completed != q.Sent {
		w.t.Errorf("the server counted %d requests; the agents %+v", n, q)
	}
	if f := r.Fleet; !f.AddsUp || f.Covered != f.Planned && r.Plan.Requested == 0 {
		w.t.Errorf("%+v", f)
	}
	for _, a := range r.Fleet.Agents {
		if !a.Final || a.AddsUp == nil || !*a.AddsUp || a.Lost != "" || a.Late == nil {
			w.t.Errorf("%+v", a)
		}
	}
}

// checkOnTime checks that the seconds of all agents are the same ones: by none of them had more
// been sent than was due. Less can be where machines are busy.
func checkOnTime(t *testing.T, r *result.Result, due func(at float64) float64) {
	t.Helper()
	if len(r.Series) < int(r.Window.MeasuredS) {
		t.Errorf("%d seconds of %.3f", len(r.Series), r.Window.MeasuredS)
	}
	sent := int64(0)
	for _, p := range r.Series {
		if sent += p.Sent; float64(sent) > due(p.T)+2 {
			t.Errorf("by %.3f s %d were sent, and %.1f were due", p.T, sent, due(p.T))
		}
	}
}

// reportedLatency are the latencies of all reports that come to a controller.
func reportedLatency(c *Controller) *metric.Histogram {
	h, seen := metric.NewHistogram(metric.Fine), map[string]bool{}
	c.alter = func(m *nats.Msg) []*nats.Msg {
		var r wire.Report
		name, what, _ := wire.ParseSubject(m.Subject)
		if what == wire.Reported && wire.Decode(m.Data, &r) == nil {
			key := fmt.Sprint(name, r.Seq)
			if r.Tick != nil && !seen[key] {
				h.MergeSparse(r.Tick.Latency)
			}
			seen[key] = true
		}
		return []*nats.Msg{m}
	}
	return h
}

// Three machines are one generator: what they sent together is what the server had, with
// the percentiles of all, from the connections and for the requests that were asked for.
func TestRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, weight := range map[string]int{"a": 2, "b": 1, "c": 1} {
		w.startAgent(name, weight)
	}
	c := w.newController()
	whole := reportedLatency(c)
	var live []loadresult.Interval
	p := w.newPlan(0, 0, 8)
	p.Requested = 40_001
	r, err := w.tryRun(t.Context(), c, p, func(iv loadresult.Interval) { live = append(live, iv) })
	if err != nil {
		t.Fatal(err)
	}
	w.checkServed(r)
	if r.Requests.Sent != 40_001 || r.Ended != string(loadresult.ByRequests) || r.Plan.Connections != 8 ||
		r.Plan.Parts != 0 || r.Plan.Weights != nil {
		t.Errorf("%+v, %s, %+v", r.Requests, r.Ended, r.Plan)
	}
	if whole.EncodeHDR() != r.Latency.HDR {
		t.Errorf("the latencies are not those of all reports: %d, and %d", r.Latency.Count, whole.Count)
	}
	var shown int64
	for _, iv := range live {
		shown += iv.Completed
	}
	if shown != 40_001 {
		t.Errorf("%d were shown live", shown)
	}
	var connections []int
	for _, a := range r.Fleet.Agents {
		connections = append(connections, a.Connections)
	}
	if !slices.Equal(connections, []int{4, 2, 2}) || r.Fleet.StartSpread == nil || r.Fleet.OffsetBound == 0 {
		t.Errorf("%v, %+v", connections, r.Fleet)
	}
	if len(r.Series) > 1 && r.Series[0].P99 == 0 {
		t.Errorf("a second has no percentiles: %+v", r.Series[0])
	}
	t.Logf("started within %.0f µs, clocks known to %.0f µs", *r.Fleet.StartSpread, r.Fleet.OffsetBound)
}

// Each second and each route has the percentiles of all that the agents answered in it: those of the
// sum of their histograms.
func TestPercentilesOfAFleet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.startAgent(name, 1, unhurriedly)
	}
	c := w.newController()
	c.lease = unhurried
	seconds, routes := map[int]*metric.Histogram{}, map[string]*metric.Histogram{}
	seen := map[string]bool{}
	c.alter = func(m *nats.Msg) []*nats.Msg {
		var r wire.Report
		name, what, _ := wire.ParseSubject(m.Subject)
		if what != wire.Reported || wire.Decode(m.Data, &r) != nil || seen[fmt.Sprint(name, r.Seq)] {
			return []*nats.Msg{m}
		}
		seen[fmt.Sprint(name, r.Seq)] = true
		if r.Tick != nil {
			if seconds[r.Tick.Index] == nil {
				seconds[r.Tick.Index] = metric.NewHistogram(metric.Fine)
			}
			seconds[r.Tick.Index].MergeSparse(r.Tick.Latency)
			return []*nats.Msg{m}
		}
		f, err := wire.ParseFinal(r.Data)
		if err != nil {
			t.Error(err)
			return nil
		}
		for _, x := range f.Result.Routes {
			if routes[x.Name] == nil {
				routes[x.Name] = metric.NewHistogram(metric.Coarse)
			}
			routes[x.Name].Merge(x.Latency)
		}
		return []*nats.Msg{m}
	}
	p := w.newPlan(600, 3*time.Second, 6)
	other := p.Requests[0]
	p.Requests[0].Name, other.Name = "a", "b"
	p.Requests = append(p.Requests, other)
	r := w.mustRun(c, p)
	w.checkServed(r)
	us := func(h *metric.Histogram, q float64) float64 { return float64(h.View().Quantile(q)) / 1e3 }
	if len(r.Series) < 3 || len(r.Routes) != 2 || len(routes) != 2 {
		t.Fatalf("%d seconds, %d routes", len(r.Series), len(r.Routes))
	}
	for i, s := range r.Series {
		h := seconds[i]
		if s.Completed == 0 || s.Completed != h.Count || s.P50 != us(h, 0.5) || s.P99 != us(h, 0.99) || len(s.ByPart) != 3 ||
			s.Max != float64(h.Max)/1e3 {
			t.Errorf("second %d: %+v, want p50 %v and p99 %v of %d", i, s, us(h, 0.5), us(h, 0.99), h.Count)
		}
	}
	for _, x := range r.Routes {
		if h := routes[x.Name]; x.Completed != 900 || x.P50 != us(h, 0.5) || x.P90 != us(h, 0.9) || x.P99 != us(h, 0.99) {
			t.Errorf("%+v, want p50 %v, p90 %v and p99 %v of %d", x, us(h, 0.5), us(h, 0.9), us(h, 0.99), h.Count)
		}
	}
}

// Wall clocks that are hours off change nothing, and weights share a constant rate out
// exactly, second by second.
func TestClocksAndWeights(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, how := range map[string]struct {
		weight int
		skew   time.Duration
	}{"a": {20, 3 * time.Hour}, "b": {10, -3 * time.Hour}, "c": {10, 0}} {
		w.startAgent(name, how.weight, func(a *Agent) { a.skew = how.skew })
	}
	began := time.Now()
	r := w.mustRun(w.newController("c", "a", "b"), w.newPlan(2000, 3*time.Second, 40))
	w.checkServed(r)
	var sent []int64
	for _, a := range r.Fleet.Agents {
		sent = append(sent, a.Requests.Sent)
	}
	if !slices.Equal(sent, []int64{3000, 1500, 1500}) {
		t.Errorf("sent %v of 6000, want half and twice a quarter", sent)
	}
	checkOnTime(t, r, func(at float64) float64 { return 2000 * at })
	if off := r.Window.Started.Sub(began); off < 0 || off > time.Minute {
		t.Errorf("the load began %v after it did", off)
	}
	if f := r.Fleet; f.Agents[0].ClockOff < 10_000 || f.Agents[1].ClockOff > -10_000 ||
		!slices.ContainsFunc(r.Warnings, func(s string) bool { return strings.Contains(s, "wall clock") }) {
		t.Errorf("%+v, warnings %q", f.Agents, r.Warnings)
	}
}

// A Poisson load of many is one of the whole rate, and exactly as many requests are due
// to all together as were asked for.
func TestLaws(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 3)
	w.startAgent("b", 1)
	p := w.newPlan(2000, 0, 20)
	p.Arrival, p.Requested = loadplan.Poisson, 3001
	r := w.mustRun(w.newController(), p)
	w.checkServed(r)
	if r.Requests.Sent != 3001 || r.Plan.Seed == 0 || r.Plan.Arrival != loadplan.Poisson {
		t.Errorf("%+v", r.Requests)
	}
}

// Reports that come twice, late, or in a wrong order count once, and those that got lost
// come again.
func TestReportsCountOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1)
	w.startAgent("b", 1)
	c := w.newController()
	var old []*nats.Msg
	draw := rand.New(rand.NewPCG(1, 2))
	c.alter = func(m *nats.Msg) []*nats.Msg {
		if _, what, _ := wire.ParseSubject(m.Subject); what != wire.Reported {
			return []*nats.Msg{m}
		}
		// At random: each third would always be the same one of three that are sent again together.
		if draw.IntN(3) == 0 {
			return nil
		}
		old = append(old[max(len(old)-10, 0):], m)
		return append(slices.Clone(old), m)
	}
	r := w.mustRun(c, w.newPlan(1000, 3*time.Second, 10))
	w.checkServed(r)
	repeated := int64(0)
	for _, a := range r.Fleet.Agents {
		repeated += a.Repeated
	}
	if r.Requests.Sent != 3000 || repeated == 0 {
		t.Errorf("%+v, %d repeated", r.Requests, repeated)
	}
}

// A plan may be much longer than a message. To seal and check it takes seconds of CPU time with the
// race detector, so no other test of the package runs meanwhile.
func TestLongPlan(t *testing.T) {
	w := newWorld(t)
	w.startAgent("a", 1)
	p := w.newPlan(0, 0, 1)
	p.Requested = 3
	p.Requests[0].Method, p.Requests[0].Body = "POST", make([]byte, 3<<20)
	c := w.newController()
	c.lease = unhurried
	r := w.mustRun(c, p)
	w.checkServed(r)
	if r.Bytes.Sent < 9<<20 {
		t.Errorf("%d bytes were sent", r.Bytes.Sent)
	}
}

// A server that is not there is a result of all agents.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1)
	w.startAgent("b", 1)
	p := w.newPlan(0, time.Second, 4)
	w.end()
	r := w.mustRun(w.newController(), p)
	if r.Ended != string(loadresult.Unreachable) || r.Requests.Sent != 0 || len(r.Errors) == 0 ||
		r.Errors[0].Kind != "refused" {
		t.Errorf("%s %+v %+v", r.Ended, r.Requests, r.Errors)
	}
}

// One agent that cannot reach the server is as good as lost, and neither a reason why the run
// ended nor a word on when it began.
func TestOneUnreachable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, address := range map[string]string{"a": "::1", "b": "127.0.0.1"} {
		w.startAgent(name, 1, func(a *Agent) {
			a.skew = -3 * time.Hour
			a.Lookup = func(context.Context, string, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr(address)}, nil
			}
		})
	}
	p := w.newPlan(500, time.Second, 4)
	p.Target.Host, p.Warmup = "name.invalid", loadplan.Seconds(time.Second)
	began := time.Now()
	r := w.mustRun(w.newController("a", "b"), p)
	if off := r.Window.Started.Sub(began); off < 0 || off > time.Minute || r.Window.WarmupS != 1 {
		t.Errorf("the load began %v after it did, with %v s of warm-up", off, r.Window.WarmupS)
	}
	if r.Ended != string(loadresult.ByDuration) || r.Requests.Sent != 250 || r.Fleet.Agents[0].Requests.Sent != 0 ||
		r.Generator.Verdict == result.OK || r.Fleet.Agents[0].Lost == "" || r.Fleet.Agents[1].Lost != "" ||
		!r.Fleet.AddsUp {
		t.Errorf("%s %+v %+v", r.Ended, r.Requests, r.Fleet)
	}
	for _, s := range r.Warnings {
		if strings.Contains(s, "generators began") {
			t.Errorf("one that did not begin has begun at another time: %s", s)
		}
	}
}

// Whoever runs the fleet can end a run: then there is what was measured until then.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for want, cause := range map[loadresult.Ending]error{loadresult.Interrupted: nil, loadresult.Aborted: loadresult.ErrAborted} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.startAgent("a", 1)
			w.startAgent("b", 1)
			ctx, stop := context.WithCancelCause(t.Context())
			told := int64(0)
			r, err := w.tryRun(ctx, w.newController(), w.newPlan(500, time.Hour, 4), func(iv loadresult.Interval) {
				if told += iv.Sent; iv.Index > 0 && told > 0 {
					stop(cause)
				}
			})
			if err != nil || r.Ended != string(want) {
				t.Fatalf("%v %v", r, err)
			}
			w.end()
			q := r.Requests
			if n := w.servedCount(); n < q.Completed || n > q.Sent || q.Sent < told {
				t.Errorf("the server had %d requests, and %d were told: %+v", n, told, q)
			}
			for _, a := range r.Fleet.Agents {
				if !a.Final || !*a.AddsUp || a.Lost != "" {
					t.Errorf("%+v", a)
				}
			}
		})
	}
	w := newWorld(t)
	w.startAgent("a", 1)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r, err := w.newController("a").Run(ctx, w.newPlan(500, time.Hour, 4), nil)
	if err != nil || r.Ended != string(loadresult.Interrupted) || w.servedCount() != 0 {
		t.Errorf("before anything began: %+v %v", r, err)
	}
}

// Agents say no before anything is sent, and why; all that is wrong is said at once.
func TestRefusals(t *testing.T) {
	lookup := func(_ context.Context, _, host string) ([]netip.Addr, error) {
		a, known := map[string]string{"metadata": "169.254.169.254", "mapped": "::ffff:169.254.169.254",
			"here": "127.0.0.1"}[host]
		if !known {
			return nil, errors.New("no such host")
		}
		return []netip.Addr{netip.MustParseAddr(a)}, nil
	}
	none := func(*loadplan.Plan) {}
	to := func(host string) func(*loadplan.Plan) { return func(p *loadplan.Plan) { p.Target.Host = host } }
	stranger, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		agent  func(*Agent)
		plan   func(*loadplan.Plan)
		change func(*Controller)
		why    string
	}{
		"a name that leads where none may": {nil, to("metadata"), nil, "b refuses: 169.254.169.254"},
		"an address that is another":       {nil, to("mapped"), nil, "no policy allows"},
		"a name that leads nowhere":        {nil, to("nowhere"), nil, "cannot look up nowhere"},
		"out of its policy":                {nil, to("198.51.100.7"), nil, "is not in what its policy allows"},
		"a rate above its ceiling": {func(a *Agent) { a.Policy.MaxRate = 249 },
			func(p *loadplan.Plan) { p.Rate = loadplan.RatePerSecond(500) }, nil, "its share is 250 requests a second"},
		"too many connections": {func(a *Agent) { a.Policy.MaxConnections = 1 }, none, nil, "2 connections"},
		"another version":      {func(a *Agent) { a.version = "0.0.9\x1b" }, none, nil, "b has dyno 0.0.9 , and"},
		"for several reasons": {func(a *Agent) { a.Policy.MaxRate, a.Policy.MaxConnections = 249, 1 },
			func(p *loadplan.Plan) { p.Rate = loadplan.RatePerSecond(500) }, nil, "allows 249; its share is 2 connections"},
		"a plan of a stranger": {nil, none, func(c *Controller) { c.Sign = stranger.Sign }, "a refuses: nkeys"},
		"only watching":        {func(a *Agent) { a.WatchOnly = true }, none, nil, "b only watches"},
		"nobody of that name": {nil, none, func(c *Controller) { c.Names = []string{"a", "x"} },
			"x does not answer"},
		"fewer connections than agents": {nil, func(p *loadplan.Plan) { p.Connections = 1 }, nil, "none is left for b"},
		"files of this machine": {nil, func(p *loadplan.Plan) {
			p.Target.TLS, p.TLS.CAFile = true, "/etc/ca.pem"
		}, nil, "plans for agents carry none"},
		"a unix socket":     {nil, func(p *loadplan.Plan) { p.Target.Unix = "/run/x" }, nil, "unix socket is of one machine"},
		"nothing of a plan": {nil, func(p *loadplan.Plan) { p.Drain = -1 }, nil, "Drain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, name := range []string{"a", "b"} {
				w.startAgent(name, 1, func(a *Agent) {
					a.Lookup, a.Policy = lookup, policy.Default()
					if name == "b" && c.agent != nil {
						c.agent(a)
					}
				})
			}
			p := w.newPlan(0, time.Second, 4)
			c.plan(&p)
			control := w.newController("a", "b")
			if c.change != nil {
				c.change(control)
			}
			r, err := w.tryRun(t.Context(), control, p, nil)
			if _, flaw := errors.AsType[loadplan.Flaw](err); !flaw || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%v %v, want %q", r, err, c.why)
			}
			w.end()
			if n := w.target.Served(); n.Requests != 0 || n.Connections != 0 {
				t.Errorf("the server had %+v", n)
			}
		})
	}
}

// No part is without a limit because nothing of it was left for an agent.
func TestCut(t *testing.T) {
	p := loadplan.DefaultPlan()
	p.Rate = loadplan.RatePerSecond(10)
	r := &fleetRun{plan: p}
	for i, weight := range []int{1, 1, 3} {
		r.members = append(r.members, newMember(FoundAgent{Name: string(rune('a' + i)), Hello: wire.Hello{Weight: weight}}))
	}
	for n, want := range map[int]string{2: "of 2 none is left for", 8: "of 8 fewer than its connections are left for c",
		10: ""} {
		r.plan.Connections, r.plan.Requested = n, int64(n)
		err := r.splitPlan()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d requests on as many connections: %v, want %q", n, err, want)
		}
	}
}

// A name is loaded at the address that was judged.
func TestNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := 0
	w.startAgent("a", 1, func(a *Agent) {
		a.Lookup = func(context.Context, string, string) ([]netip.Addr, error) {
			asked++
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
	})
	p := w.newPlan(0, 0, 2)
	p.Requested, p.Target.Host = 100, "name.invalid"
	c := w.newController()
	runs := 0
	c.Names = nil // whoever is there
	c.Progress = func(line string) {
		if strings.HasPrefix(line, "agents asked") {
			runs++
		}
	}
	r := w.mustRun(c, p)
	w.checkServed(r)
	if asked != runs || r.Plan.Addresses != nil {
		t.Errorf("asked %d times; the plan has %v", asked, r.Plan.Addresses)
	}
}

// One that answers for ever as others keeps nobody waiting, and is there twice at most.
func TestCrowd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	liar, enough := w.connect(), make(chan struct{})
	sub, err := liar.Subscribe(wire.CommandSubject(wire.Everyone, wire.WhoIsThere), func(m *nats.Msg) {
		var who wire.DiscoveryQuery
		if err := wire.Decode(m.Data, &who); err != nil {
			t.Error(err)
		}
		for {
			select {
			case <-enough:
				return
			case <-time.After(10 * time.Millisecond):
				liar.Publish(wire.EventSubject("liar", wire.Present), wire.Encode(wire.Hello{QueryID: who.QueryID, Epoch: newRandomID()}))
			}
		}
	})
	if err == nil {
		err = liar.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Unsubscribe()
	defer close(enough)
	var all []FoundAgent
	for wait := 300 * time.Millisecond; err == nil && len(all) < sameNameMax && wait < time.Minute; wait *= 4 {
		all, err = Discover(t.Context(), w.connect(), nil, wait)
		t.Logf("%d answerers in %v", len(all), wait)
	}
	if err != nil || len(all) != sameNameMax {
		t.Errorf("%d answerers, %v", len(all), err)
	}
}

// An agent that watches loads nothing, whoever asks it to.
func TestWatcherRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spy := w.connect()
	answers, err := spy.SubscribeSync(wire.EventSubject("a", wire.OrderAnswered))
	if err == nil {
		err = spy.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &agentService{Agent: &Agent{Conn: w.connect(), Name: "a", WatchOnly: true}, epoch: "e"}
	s.considerOrder(wire.RunRef{Run: "r", Epoch: "e"}, nil, "")
	m, err := answers.NextMsg(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var a wire.Answer
	if err := wire.Decode(m.Data, &a); err != nil || a.Refused != "it only watches" || s.job != nil {
		t.Errorf("%+v %v", a, err)
	}
}

func TestNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.newController().Run(t.Context(), w.newPlan(0, time.Second, 4), nil)
	if err == nil || !strings.Contains(err.Error(), "no agent is there") {
		t.Error(err)
	}
	for _, bad := range []*Agent{{Name: "all"}, {Name: "a b"}, {Name: "a"}} {
		if err := bad.Serve(t.Context()); err == nil {
			t.Errorf("%q serves", bad.Name)
		}
	}
}

// A run that its policy allows no longer ends by the agent's own doing, and says so.
func TestLongestRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, longest := range []time.Duration{4, 16, 64} {
		name := fmt.Sprintf("a%d", i)
		w.startAgent(name, 1, func(a *Agent) {
			a.Policy = policy.Default()
			a.Policy.MaxDuration = longest * time.Second
		})
		p := w.newPlan(0, 0, 2)
		p.Requested, p.Drain = loadplan.MaxRequested, loadplan.Seconds(time.Second)
		r := w.mustRun(w.newController(name), p)
		a := r.Fleet.Agents[0]
		if a.Lost != "its policy allows no longer runs" || r.Ended != string(loadresult.Lost) {
			t.Errorf("%s %+v", r.Ended, a)
		}
		if r.Requests.Sent == 0 { // there is no final report then
			t.Logf("on a busy machine %d s ended before the first request", longest)
			continue
		}
		if !a.Final || !r.Fleet.AddsUp {
			t.Errorf("%+v", a)
		}
		return
	}
	t.Error("nothing was sent")
}
