package load

// A standstill is time in which a thread neither ran nor had reason to sleep: the process was
// stopped (SIGSTOP, docker pause, a debugger), its machine was, or other programs had the CPU. What
// the thread had in flight, and what became due meanwhile, looks as late as if the server had been.
// Send lag shows some of that, of requests that had a free connection.
//
// A thread notices it by its own clock. It was to wake at a certain instant, at the latest
// sleepMost after it fell asleep, and woke later. Or a turn took longer than the CPU time that the
// thread used. With HTTP/3, and on systems that do not report that, it is the CPU time of the
// process: what other threads worked is then no standstill. So a stop is noticed whatever the load
// does. Up to sleepMost of it may be missing if the thread slept when it began, or lookEvery, if it
// was busy before. If the machine is suspended with its monotonic clock, no time passes for
// latencies either: there is no standstill.
//
// A thread looks once in lookEvery at most, which costs it one system call.
const (
	lookEvery       = int64(10e6)
	standstillLeast = int64(10e6) // what is shorter is no standstill
)

// A watch is what a worker knows of its thread's time.
type watch struct {
	cpu    func() int64 // CPU time that the thread has used, in ns
	ofAll  bool         // cpu is that of all threads
	wake   int64        // when the thread was to be awake at the latest
	looked int64        // when it looked last
	used   int64        // what cpu was then

	spun     int64 // ns waited without sleeping (--spin)
	idleTurn bool  // the last turn found nothing to do
}

// beginWatch is called before the first turn.
func (k *watch) beginWatch(now int64) {
	k.looked, k.wake = now, now
	if k.cpu != nil {
		k.used = k.cpu()
	}
}

// lookForStandstill is called at the beginning of a turn. before is when the last one ended, which
// began at turnBegan.
func (w *worker) lookForStandstill(before int64) {
	k := &w.watch
	k.looked = w.now
	lost := max(w.now-max(k.wake, before), 0)
	if k.cpu != nil {
		used := k.cpu()
		idle := before - w.turnBegan - (used - k.used)
		if k.ofAll { // the work of other threads does not explain why this one woke late
			idle = max(idle, 0)
		}
		lost += idle
		k.used = used
	}
	if lost >= standstillLeast {
		w.countStandstill(w.now-lost, w.now)
	}
}

// countStandstill counts a standstill of the window or of the drain, in which answers to the
// window's requests are awaited, and the requests that it may have delayed: those in flight, and
// those due since then, as they are sent (countLag).
func (w *worker) countStandstill(since, until int64) {
	if since = max(since, w.From); since < until {
		w.totals.AddStandstill(since-w.From, until-since)
		w.totals.Delayed += w.sentSince(w.stopped.until)
		if w.Start+w.Next >= w.stopped.until { // else what the last one delayed is still being sent
			w.stopped.since = since
		}
		w.stopped.until = until
	}
}

// sentSince is how many requests in flight were sent at an instant or later: the others were in
// flight in the last standstill, too, and are counted.
func (w *worker) sentSince(at int64) (n int64) {
	for i := range w.conns {
		for j := range w.conns[i].exchanges {
			if x := &w.conns[i].exchanges[j]; x.live && x.sent >= at {
				n++
			}
		}
	}
	return n
}

// A standstill is one, on the ring's clock.
type standstill struct{ since, until int64 }

// has reports whether an instant lies in the standstill.
func (s *standstill) has(at int64) bool { return at >= s.since && at < s.until }
