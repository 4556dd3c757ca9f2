package fleet

import (
	"time"

	"dyno/internal/fleet/wire"
)

// waitingMost is how many reports an agent keeps until they are acknowledged. A controller
// that is heard acknowledges within a second, and one that is not ends the load.
const waitingMost = 600

// How many reports are under way at once, and how many bytes of them: those that follow are
// said when these are acknowledged. The result of a run of days is many megabytes, of which
// nobody has to keep more than that. It is little at first, and where acknowledgements take long:
// on a slow line beats have to wait behind it.
const (
	aheadMost  = 64
	aheadBytes = 2 << 20
	aheadLeast = 64 << 10
)

// againMost is after what time a report is said again at the latest.
const againMost = 6 * time.Second

// A spool is the reports that were not acknowledged yet, in order. The zero value has none.
type spool struct {
	last    int64 // number of the last one
	waiting []waiting
	ahead   int           // bytes that may be under way, beyond aheadLeast
	wait    time.Duration // after which a report is said again, beyond resend
}

type waiting struct {
	seq   int64
	text  []byte
	said  time.Time // zero: not yet
	again bool      // it was said more than once
}

// add numbers a report and keeps it, to be said when it is due.
func (s *spool) add(r wire.Report) {
	s.last++
	r.Seq = s.last
	s.waiting = append(s.waiting, waiting{seq: s.last, text: wire.Encode(r)})
}

// full reports whether more wait than should.
func (s *spool) full() bool { return len(s.waiting) > waitingMost }

// acknowledged forgets the reports up to that number.
func (s *spool) acknowledged(seq int64, now time.Time) {
	for len(s.waiting) > 0 && s.waiting[0].seq <= seq {
		if w := &s.waiting[0]; !w.said.IsZero() && !w.again { // else nobody knows which was heard
			s.learn(len(w.text), now.Sub(w.said))
		}
		s.waiting[0].text = nil
		s.waiting = s.waiting[1:]
	}
}

// learn lets more be under way after so many bytes that were soon acknowledged, and less after some
// that were not: these are said again later, too, or they would be on their way several times.
func (s *spool) learn(bytes int, took time.Duration) {
	if took <= resend/2 {
		s.ahead, s.wait = min(s.ahead+bytes, aheadBytes-aheadLeast), 0
		return
	}
	s.ahead, s.wait = s.ahead/2, min(max(2*took-resend, 0), againMost-resend)
}

// due are the reports to be said, for the first time or again: in order, for only so they are
// taken.
func (s *spool) due(now time.Time) (texts [][]byte) {
	bytes, again, repeated := 0, true, false
	for i := range s.waiting {
		w := &s.waiting[i]
		if bytes += len(w.text); i == aheadMost || i > 0 && bytes > aheadLeast+s.ahead {
			break
		}
		first := w.said.IsZero()
		again = again && (first || now.Sub(w.said) >= resend+s.wait)
		if first || again {
			w.again, w.said = !first, now
			repeated = repeated || !first
			texts = append(texts, w.text)
		}
	}
	if repeated {
		s.ahead, s.wait = 0, min(2*s.wait+resend, againMost-resend)
	}
	return texts
}
