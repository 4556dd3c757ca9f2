package meter

// A standstill is time in which a thread neither ran nor had reason to sleep: the process was
// stopped (SIGSTOP, docker pause, a debugger), its machine was, or other programs had the CPU. What
// the thread had in flight, and what became due meanwhile, looks as late as if the server had been.
// Send lag shows some of that, of requests that had a free connection.
//
// A thread notices it by its own clock. It was to wake at a certain instant, and woke later. Or a
// turn took longer than the CPU time that the thread used. With HTTP/3, and on systems that do not
// report that, it is the CPU time of the process: what other threads worked is then no standstill.
// So a stop is noticed whatever the load does. What a thread slept at most may be missing of it if
// the thread slept when it began, or LookEvery, if it was busy before. If the machine is suspended
// with its monotonic clock, no time passes for latencies either: there is no standstill.
//
// A thread looks once in LookEvery at most, which costs it one system call.
const (
	LookEvery       = int64(10e6)
	standstillLeast = int64(10e6) // what is shorter is no standstill
)

// A Watch is what a worker knows of its thread's time.
type Watch struct {
	CPU    func() int64 // CPU time that the thread has used, in ns
	OfAll  bool         // CPU is that of all threads
	Wake   int64        // when the thread was to be awake at the latest
	Looked int64        // when it looked last
	used   int64        // what CPU was then

	Spun     int64 // ns waited without sleeping (--spin)
	IdleTurn bool  // the last turn found nothing to do
}

// Begin is called before the first turn.
func (k *Watch) Begin(now int64) {
	k.Looked, k.Wake = now, now
	if k.CPU != nil {
		k.used = k.CPU()
	}
}

// Lost is called at the beginning of a turn: it is for how long the thread stood still until now; 0
// if it did not. before is when the last turn ended, which began at began.
func (k *Watch) Lost(now, before, began int64) (lost int64) {
	k.Looked = now
	lost = max(now-max(k.Wake, before), 0)
	if k.CPU != nil {
		used := k.CPU()
		idle := before - began - (used - k.used)
		if k.OfAll { // the work of other threads does not explain why this one woke late
			idle = max(idle, 0)
		}
		lost += idle
		k.used = used
	}
	if lost < standstillLeast {
		return 0
	}
	return lost
}

// A Standstill is one, on the ring's clock.
type Standstill struct{ Since, Until int64 }

// Has reports whether an instant lies in the standstill.
func (s *Standstill) Has(at int64) bool { return at >= s.Since && at < s.Until }
