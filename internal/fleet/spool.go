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
// nobody has to keep more than that.
const (
	aheadMost  = 64
	aheadBytes = 2 << 20
)

// A spool is the reports that were not acknowledged yet, in order.
type spool struct {
	last    int64 // number of the last one
	waiting []waiting
}

type waiting struct {
	seq  int64
	text []byte
	said time.Time // zero: not yet
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
func (s *spool) acknowledged(seq int64) {
	for len(s.waiting) > 0 && s.waiting[0].seq <= seq {
		s.waiting[0].text = nil
		s.waiting = s.waiting[1:]
	}
}

// due are the reports to be said, for the first time or again: in order, for only so they are
// taken.
func (s *spool) due(now time.Time) (texts [][]byte) {
	bytes, again := 0, true
	for i := range s.waiting {
		w := &s.waiting[i]
		if bytes += len(w.text); i == aheadMost || i > 0 && bytes > aheadBytes {
			break
		}
		first := w.said.IsZero()
		again = again && (first || now.Sub(w.said) >= resend)
		if first || again {
			w.said = now
			texts = append(texts, w.text)
		}
	}
	return texts
}
