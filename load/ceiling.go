package load

// A ceiling keeps what a worker sends below a rate, whatever it is sent for: what was due while
// the process or the server stood still, and what is sent again. It is a schedule around the
// worker's own, which each request of an open loop asks anyway, so a load without a ceiling pays
// nothing for it.
type ceiling struct {
	Schedule
	w         *worker
	gap       int64 // ns from one request to the next at that rate
	rest, per int64 // and rest/per of a ns
	carry     int64 // of such parts, fewer than per
	next      int64 // when the next request would be sent if none had been ahead of the rate
	said      bool
}

// ceilingSlack is how far requests may be ahead of the rate, in ns: arrivals at random are not
// even, nor are those of a thread that wakes up late. So a second has a tenth more at most.
const ceilingSlack = int64(100e6)

// under is s below the plan's ceiling, of which worker w of so many has its share.
func (w *worker) under(s Schedule) Schedule {
	if w.plan.Ceiling <= 0 {
		return s
	}
	const second = int64(1e12) // a thousandth of a request a second is one in so many ns
	all, per := second*int64(w.of), int64(w.plan.Ceiling)
	return &ceiling{Schedule: s, w: w, gap: all / per, rest: all % per, per: per}
}

// Next is called once for each arrival that is sent.
func (s *ceiling) Next() (int64, bool) {
	s.sent()
	return s.Schedule.Next()
}

// sent has the worker be silent for as long as what it has sent is too much.
func (s *ceiling) sent() {
	w := s.w
	s.next = max(s.next, w.now) + s.gap
	if s.carry += s.rest; s.carry >= s.per {
		s.carry -= s.per
		s.next++
	}
	if mute := s.next - ceilingSlack; mute > w.now {
		w.mute = max(w.mute, mute)
		s.tell()
	}
}

// tell notes, once, that not all was sent as early as it could be.
func (s *ceiling) tell() {
	if !s.said {
		s.said = true
		s.w.notice["some of what was late or to be sent again waited, for the machine's owner allows "+
			s.w.plan.Ceiling.String()+" requests a second"] = true
	}
}

// resent is for a request that is sent and was not drawn from the schedule just now.
func (w *worker) resent() {
	if s, is := w.schedule.(*ceiling); is {
		s.sent()
	}
}
