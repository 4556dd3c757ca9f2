package fleet

import (
	"time"

	"dyno/internal/fleet/wire"
)

// spooledMax is how many reports an agent keeps until they are acknowledged. A controller
// that is heard acknowledges within a second, and one that is not ends the load.
const spooledMax = 600

// How many reports are under way at once, and how many bytes of them: those that follow are
// said when these are acknowledged. The result of a run of days is many megabytes, of which
// nobody has to keep more than that. It is little at first, and where acknowledgements take long:
// on a slow line beats have to wait behind it.
const (
	inFlightMax = 64
	windowMax   = 2 << 20
	windowMin   = 64 << 10
)

// resendDelayMax is after what time a report is said again at the latest.
const resendDelayMax = 6 * time.Second

// A spool is the reports that were not acknowledged yet, in order. The zero value has none.
type spool struct {
	lastSeq     int64 // number of the last one
	unacked     []spooledReport
	windowExtra int           // bytes that may be under way, beyond aheadLeast
	resendExtra time.Duration // after which a report is said again, beyond resend
}

type spooledReport struct {
	seq    int64
	text   []byte
	sentAt time.Time // zero: not yet
	resent bool      // it was said more than once
}

// addReport numbers a report and keeps it, to be said when it is due.
func (s *spool) addReport(r wire.Report) {
	s.lastSeq++
	r.Seq = s.lastSeq
	s.unacked = append(s.unacked, spooledReport{seq: s.lastSeq, text: wire.Encode(r)})
}

// isFull reports whether more wait than should.
func (s *spool) isFull() bool { return len(s.unacked) > spooledMax }

// acknowledgeUpTo forgets the reports up to that number.
func (s *spool) acknowledgeUpTo(seq int64, now time.Time) {
	for len(s.unacked) > 0 && s.unacked[0].seq <= seq {
		if w := &s.unacked[0]; !w.sentAt.IsZero() && !w.resent { // else nobody knows which was heard
			s.adaptWindow(len(w.text), now.Sub(w.sentAt))
		}
		s.unacked[0].text = nil
		s.unacked = s.unacked[1:]
	}
}

// adaptWindow lets more be under way after so many bytes that were soon acknowledged, and less
// after some that were not: these are said again later, too, or they would be on their way
// several times.
func (s *spool) adaptWindow(bytes int, took time.Duration) {
	if took <= resendDelay/2 {
		s.windowExtra, s.resendExtra = min(s.windowExtra+bytes, windowMax-windowMin), 0
		return
	}
	s.windowExtra, s.resendExtra = s.windowExtra/2, min(max(2*took-resendDelay, 0),
		resendDelayMax-resendDelay)
}

// dueReports are the reports to be said, for the first time or again: in order, for only so they
// are taken.
func (s *spool) dueReports(now time.Time) (texts [][]byte) {
	bytes, again, repeated := 0, true, false
	for i := range s.unacked {
		w := &s.unacked[i]
		if bytes += len(w.text); i == inFlightMax || i > 0 && bytes > windowMin+s.windowExtra {
			break
		}
		first := w.sentAt.IsZero()
		again = again && (first || now.Sub(w.sentAt) >= resendDelay+s.resendExtra)
		if first || again {
			w.resent, w.sentAt = !first, now
			repeated = repeated || !first
			texts = append(texts, w.text)
		}
	}
	if repeated {
		s.windowExtra, s.resendExtra = 0, min(2*s.resendExtra+resendDelay, resendDelayMax-resendDelay)
	}
	return texts
}
