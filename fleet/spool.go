package fleet

import (
	"time"

	"dyno/fleet/wire"
)

// waitingMost is how many reports an agent keeps until they are acknowledged. A controller
// that is heard acknowledges within a second, and one that is not ends the load.
const waitingMost = 600

// resentMost is how many of them are said again at once.
const resentMost = 64

// A spool is the reports that were not acknowledged yet, in order.
type spool struct {
	last    int64 // number of the last one
	waiting []waiting
}

type waiting struct {
	seq  int64
	text []byte
	said time.Time
}

// add numbers a report and keeps it; it is to be said now.
func (s *spool) add(r wire.Report, now time.Time) []byte {
	s.last++
	r.Seq = s.last
	text := wire.Encode(r)
	s.waiting = append(s.waiting, waiting{s.last, text, now})
	return text
}

// full reports whether more wait than should.
func (s *spool) full() bool { return len(s.waiting) > waitingMost }

// acknowledged forgets the reports up to that number.
func (s *spool) acknowledged(seq int64) {
	for len(s.waiting) > 0 && s.waiting[0].seq <= seq {
		s.waiting = s.waiting[1:]
	}
}

// due are the reports to be said again: in order, for only so they are taken.
func (s *spool) due(now time.Time) (texts [][]byte) {
	for i := range s.waiting {
		w := &s.waiting[i]
		if len(texts) == resentMost || now.Sub(w.said) < resend {
			break
		}
		w.said = now
		texts = append(texts, w.text)
	}
	return texts
}
