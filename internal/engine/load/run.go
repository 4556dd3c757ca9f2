// Package load is the generator: a loadplan.Plan goes in, a loadresult.Result comes out.
//
// run.go prepares a run, starts a worker per thread and collects what they count (collect.go). A
// worker (worker.go; read it first) is a loop between four parts with one job each: the window
// says when the load begins, is measured and ends, and the flow what is due next (package flow);
// the pool (pool.go) which connections have room; the account (account.go) counts. conn.go has the
// events of a connection's lives, exchange.go those of a request in flight. Of a plan with a
// scenario, users.go has who sends requests, and steps.go what they go through.
//
//	abroad.go       other origins that redirects lead to
//	account.go      counts of a worker: requests, answers, errors, send lag; its intervals
//	available.go    time in which a connection had no server: closed, refused, silent
//	collect.go      adds up what workers count, once a second and at the end
//	conn.go         the events of a connection: opened, failed, lost, late; flushes its output
//	dialing.go      when connections are opened and dialed again
//	exchange.go     a request: sent, answered, failed, sent again; why the peer ended its connection
//	http3.go        opens a worker's ring, which is another one for HTTP/3
//	lightprobe.go   a light load beside the main one: --probe
//	pool.go         which connections have room, their timers, and since when none is ready
//	reshare.go      changes a worker's share of the rate
//	run.go          Run: prepares, starts a worker per thread
//	samples.go      samples of requests for --save-errors and --show, lines for --log
//	silence.go      waits for answers that did not come, and what they count as
//	slot.go         when a slot of a closed workload became free
//	standstill.go   time in which a thread was stopped
//	steps.go        what users of a scenario do, step by step
//	streams.go      answers that are streams: begun, ended, left by users; which answers are good
//	userramp.go     users whose number changes
//	unfinished.go   answers that did not end: how far they came
//	users.go        users, and the responses that they see
//	worker.go       the loop: waits, handles, sends what is due, ends; read it first
//
// What goes in is in package loadplan, and what comes out in package loadresult. Package transport
// makes the codecs of a plan and finds its addresses, and package machine prepares threads and
// reads the system.
//
// What is done about the Go runtime, and how it was measured, is in ../RUNTIME.md.
package load

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"dyno/internal/engine/auth"
	"dyno/internal/engine/batching"
	"dyno/internal/engine/dial"
	"dyno/internal/engine/failure"
	"dyno/internal/engine/flow"
	"dyno/internal/engine/goodput"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/machine"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/rendezvous"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/sampling"
	"dyno/internal/engine/streams"
	"dyno/internal/engine/transport"
	"dyno/internal/fact"
)

// Run makes the plan's load. Once a second it calls each with what was measured meanwhile, in order
// and from one goroutine. A plan that cannot be carried out is an error that joins Flaws, and
// nothing was sent. A target that cannot be reached is a result, and so is all that happens later.
// When ctx ends, the load ends too, and the result has what was measured until then.
func Run(ctx context.Context, p loadplan.Plan,
	each func(loadresult.Interval)) (*loadresult.Result, error) {
	return RunTogether(ctx, p, nil, each)
}

// A Barrier is where a load waits for others once its connections are open. It returns the instant
// at which the load is to begin. When ctx has ended, that does not count, and nothing is sent.
type Barrier func(ctx context.Context) time.Time

// RunTogether is Run of a load that begins with others, at the instant that the barrier returns. A
// load that cannot open any connection does not call the barrier.
func RunTogether(ctx context.Context, p loadplan.Plan, meet Barrier,
	each func(loadresult.Interval)) (*loadresult.Result, error) {
	return RunShared(ctx, p, meet, nil, each)
}

// RunShared is RunTogether of a load whose share of the arrivals can change. A closed workload, and
// one with a number of requests, ignores shares.
func RunShared(ctx context.Context, p loadplan.Plan, meet Barrier, shares <-chan Share,
	each func(loadresult.Interval)) (*loadresult.Result, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if p.IsRandom() && p.Seed == 0 {
		p.Seed = loadplan.DrawSeed()
	}
	p = auth.Applied(p)
	if p.Probe > 0 {
		return runProbed(ctx, p, meet, shares, each)
	}
	r := &run{plan: p, each: each, shares: shares}
	return r.execute(ctx, meet)
}

// execute is RunTogether of a plan that has been checked.
func (r *run) execute(ctx context.Context, meet Barrier) (*loadresult.Result, error) {
	r.result = &loadresult.Result{Plan: r.plan, Started: time.Now()}
	defer func() { r.protocols.CloseKeyLog() }() // a failed write to it is reported when it happens
	if err := r.prepareRun(); err != nil {
		return nil, err
	}
	addrs, took, err := transport.ResolveTarget(ctx, &r.plan)
	if err != nil {
		r.result.SetUnresolved(err, ctx.Err() != nil)
		return r.result, nil
	}
	var notice fact.Args
	if r.addrs, notice, err = transport.SpreadOverSources(&r.plan, addrs); err != nil {
		return nil, err
	}
	r.addNotice(notice)
	r.result.DNS = took
	if err := r.resolveOrigins(ctx); err != nil {
		return nil, err
	}
	if r.result.Ports, err = transport.CheckPorts(&r.plan, r.addrs); err != nil {
		return nil, err
	}
	if err := r.runWorkers(ctx, meet); err != nil {
		return nil, err
	}
	if r.protocols.HTTP3 != nil {
		r.result.NoteHTTP3()
	}
	if r.result.Ended == loadresult.Interrupted && errors.Is(context.Cause(ctx),
		loadresult.ErrAborted) {
		r.result.Ended = loadresult.Aborted
	}
	return r.result, nil
}

// A run is a Run in progress.
type run struct {
	plan          loadplan.Plan
	each          func(loadresult.Interval)
	shares        <-chan Share // nil: the share stays as it is
	protocols     *transport.Protocols
	addrs         []ring.Addr
	origins       []server // that redirects may lead to
	threads       int
	cpus          []int
	cpusSkipped   int  // of cpus: those for the threads of a co-located load
	promptStart   bool // instants count: of sends, or of the beginning with other loads
	gate          *rendezvous.Gate
	name          *dial.Following // of the target; nil: it is looked up no more
	reports       chan workerReport
	emptyCounters chan *metric.Counters
	viewer        *loadresult.Viewer // nil: nobody sees the intervals
	result        *loadresult.Result

	failures failure.Counts // of all intervals so far
}

// prepareRun checks what depends on the machine and on files: protocols, the ring's kind, CPUs and
// the limit of open files.
func (r *run) prepareRun() error {
	var err, more error
	if r.protocols, err = transport.NewProtocols(&r.plan); err == nil {
		r.result.Notices = append(r.result.Notices, r.protocols.Notices...)
		if _, err = r.protocols.Protocol(r.plan.ProtoRequests(), r.plan.Want()); err != nil {
			err = loadplan.Flaw{Setting: "Requests", Problem: err.Error()}
		}
	}
	if kind := r.plan.Ring; kind != "auto" && !slices.Contains(ring.Kinds, kind) {
		err = errors.Join(err, loadplan.Flaw{Setting: "Ring",
			Problem: fmt.Sprintf("this platform has no %q; it has %v", kind, ring.Kinds)})
	}
	r.cpus, more = machine.UsableCPUs(r.plan.CPUs)
	err = errors.Join(err, flawOfLimit("CPUs", more))
	r.threads = min(r.plan.Threads, r.plan.Connections)
	need, abroad := r.plan.Connections+r.plan.ProbeConnections(),
		r.plan.Connections*len(r.plan.FollowTo)
	notice, more := machine.EnsureFiles(need+abroad, r.threads, !r.plan.Guest)
	if abroad > 0 && more != nil { // connections to other origins are opened as requests need them
		notice, more = machine.EnsureFiles(need, r.threads, !r.plan.Guest)
	}
	r.addNotice(notice)
	if r.threads < r.plan.Threads {
		r.addNotice(fact.FewerThreads{Threads: r.threads, Asked: r.plan.Threads})
	}
	return errors.Join(err, flawOfLimit("Connections", more))
}

// flawOfLimit is a limit of this machine as a Flaw of the setting that exceeds it. Other errors
// stay as they are.
func flawOfLimit(setting string, err error) error {
	if limit, is := err.(machine.Limit); is {
		return loadplan.Flaw{Setting: setting, Problem: limit.Error()}
	}
	return err
}

// addNotice adds a notice to the result, unless it is nil.
func (r *run) addNotice(args fact.Args) {
	if args != nil {
		r.result.Notices = append(r.result.Notices, fact.Noticed(args))
	}
}

// runWorkers runs the workers and collects what they report.
func (r *run) runWorkers(ctx context.Context, meet Barrier) error {
	giveBack, err := r.keepProcs()
	if err != nil {
		return err
	}
	defer giveBack()
	r.promptStart = r.plan.Open() || meet != nil
	r.gate = rendezvous.NewGate(r.threads)
	r.reports = make(chan workerReport, 4*r.threads)
	r.emptyCounters = make(chan *metric.Counters, 4*r.threads)
	for range r.threads { // 0.5 MB, for which the load would wait at the end of the first second
		empty := metric.NewCounters()
		loadresult.PrepareCounters(&r.plan, empty)
		r.emptyCounters <- empty
	}
	end := func() { r.gate.Stop.CompareAndSwap(0, ring.Clock()) }
	if ctx.Err() != nil { // AfterFunc would do it on a goroutine, after the workers have begun
		end()
	}
	stop := context.AfterFunc(ctx, end)
	defer stop()
	if meet != nil {
		defer r.gate.HoldForBarrier(ctx, meet)()
	}
	if r.shares != nil {
		defer r.followShares()()
	}
	name, unfollow := transport.Follow(ctx, &r.plan)
	defer unfollow()
	r.name = name
	for i := range r.threads {
		go r.runWorker(i)
	}
	r.viewer = loadresult.NewViewer(shownMost, r.each)
	defer r.viewer.Close()
	return r.collectIntervals()
}

// keepProcs has the workers leave a processor to other goroutines. The workers of HTTP/3 and of the
// portable ring occupy no processor while they wait. If GOMAXPROCS is too low for the ring and may
// not be raised, the load takes the portable one.
func (r *run) keepProcs() (giveBack func(), err error) {
	if r.protocols.HTTP3 != nil {
		return func() {}, nil
	}
	if giveBack = machine.KeepProcs(r.threads, !r.plan.Guest); giveBack != nil {
		return giveBack, nil
	}
	if r.plan.Ring == "auto" {
		r.plan.Ring = "portable"
		r.addNotice(fact.PortableRing{Procs: runtime.GOMAXPROCS(0), Threads: r.threads})
	} else if r.plan.Ring != "portable" {
		return nil, loadplan.Flaw{Setting: "Threads", Problem: fmt.Sprintf("%d threads on the ring "+
			"%s need a higher GOMAXPROCS than %d", r.threads, r.plan.Ring, runtime.GOMAXPROCS(0))}
	}
	return func() {}, nil
}

// shownMost is how many intervals may wait to be shown, an hour of them.
const shownMost = 3600

// workerCPUs returns the CPUs for the workers, and whether they share them with other programs.
func (r *run) workerCPUs() (cpus []int, shared bool) {
	if transport.AreLocal(r.addrs) || r.cpusSkipped >= len(r.cpus) {
		return r.cpus, true
	}
	return r.cpus[r.cpusSkipped:], false
}

// runWorker runs worker i on a locked thread that ends with it. A panic ends only the run. With
// HTTP/3 the goroutine is not locked: waking a thread for each answer costs half as much CPU again.
func (r *run) runWorker(i int) {
	var done workerReport
	defer func() {
		if p := recover(); p != nil {
			done.err = fmt.Errorf("worker %d: %v\n%s", i, p, debug.Stack())
		}
		if done.err != nil { // the others would wait for this worker at the gate
			r.gate.Stop.CompareAndSwap(0, ring.Clock())
		}
		done.from = i
		r.reports <- done
	}()
	if r.protocols.HTTP3 == nil {
		runtime.LockOSThread()
		cpus, shared := r.workerCPUs()
		machine.PinThread(cpus, i, r.threads, shared)
		if r.promptStart {
			machine.ShortenTimeSlice()
		}
	}
	w, free, err := r.openWorker(i)
	if err != nil {
		done.err = err
		return
	}
	defer free()
	done.worker, done.err = w, w.runLoop()
}

func (r *run) openWorker(i int) (*worker, func(), error) {
	g, err := r.openRing()
	if err != nil {
		err = fmt.Errorf("opening ring %q: %w", r.plan.Ring, err)
		if errors.Is(err, ring.ErrRefused) {
			err = fact.Mended{Err: err, Mend: []fact.Remedy{{Setting: "ring", Value: "epoll"}}}
		}
		return nil, nil, err
	}
	w, err := newWorker(&r.plan, g.Ring, r.addrs, r.protocols, r.gate, i, r.threads)
	if err == nil {
		w.dialing.addresses.Name = r.name
		err = w.addOutposts(r.origins)
	}
	if err != nil {
		g.Free()
		return nil, nil, err
	}
	if w.kind = g.Kind; g.Refused != nil {
		w.notices[fact.SlowerRing{Ring: g.Kind, Why: g.Refused.Error()}] = true
	}
	w.rampingIn = r.promptStart && !r.plan.Open()
	w.watch.CPU = machine.ThreadCPU()
	if w.watch.CPU == nil || r.protocols.HTTP3 != nil { // its thread may change
		w.watch.CPU, w.watch.OfAll = func() int64 { return int64(machine.ProcessCPU()) }, true
	}
	w.publish = func(s *metric.Counters) *metric.Counters {
		r.reports <- workerReport{from: i, Counters: s, health: w.takeHealth(w.now, w.idleTime())}
		select {
		case s = <-r.emptyCounters:
			return s
		default:
			return metric.NewCounters()
		}
	}
	return w, g.Free, nil
}

// newWorker makes worker i of n, with its share of the plan.
func newWorker(p *loadplan.Plan, g ring.Ring, addrs []ring.Addr, protocols *transport.Protocols,
	gate *rendezvous.Gate, i, n int) (*worker, error) {
	users, err := newUsers(p, i, n)
	if err != nil {
		return nil, err
	}
	newCodec, err := protocols.Protocol(p.ProtoRequests(), p.Want())
	if err != nil {
		return nil, err
	}
	connections := int(loadplan.EvenShare(int64(p.Connections), i, n))
	tally := loadresult.NewTotals()
	w := &worker{
		server: server{p, addrs, protocols, newCodec, protocols.Framed(p.Target)}, ring: g, gate: gate,
		id: i, of: n, users: users, samples: sampling.New(p, i), deep: p.Depth() > 1,
		pool: pool{conns: make([]conn, connections), idle: flow.NewFIFO[uint32](connections)},
		Flow: flow.New(p, i, n),
		account: account{counters: metric.NewCounters(), totals: &tally, errors: failure.Counts{},
			ended: failure.Counts{}, notices: map[fact.Args]bool{}},
	}
	w.linger = batching.New(p, w.framed && protocols.HTTP3 == nil)
	if p.OwnStatuses() {
		w.own = p.Requests
	}
	if p.Open() || p.Cap > 0 {
		w.LimitRate(p, n, &w.now)
		w.pacing = loadresult.NewPacing(p, &tally.Law, n)
	}
	w.dialing.addresses = dial.New(g, addrs, connections, i, int64(p.Connecting))
	if p.ConnectRate > 0 {
		w.dialing.pace = p.ConnectSchedule(i, n)
	}
	if w.routes, w.route = loadresult.NewRoutes(p); users != nil {
		over := func() bool { return w.IsOver(w.ring.Now(), gate.Stop.Load()) }
		for k := range users.all {
			users.all[k].Over = over
		}
		w.totals.Scenario = loadresult.NewScenarioTotals(p.Checks)
	}
	w.streams, err = streams.New(p, connections, &w.now, &w.Window)
	if w.streams != nil && p.Show > 0 {
		w.streams.Show(&w.samples.Show)
	}
	w.prepareCounters()
	if err == nil && p.Goodput != "" {
		w.limits, err = goodput.Parse(p.Goodput)
	}
	return w, err
}
