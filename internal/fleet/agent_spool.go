package fleet

import (
	"time"

	"dyno/internal/fleet/wire"
)

// spooledMax is how many unacknowledged reports an agent keeps. A controller acknowledges within
// a second; one that is silent for Lease ends the load anyway.
const spooledMax = 600

// Reports in flight: how many at most, and how many bytes (a window that grows with quick
// acknowledgements and shrinks with slow ones). Other reports wait. The result of a run of days
// is many megabytes, which nobody has to queue at once, and heartbeats must get through on a slow
// line.
const (
	inFlightMax = 64
	windowMax   = 2 << 20
	windowMin   = 64 << 10
)

// resendDelayMax is the longest wait before a report is sent again.
const resendDelayMax = 6 * time.Second

// A spool holds the reports that are not acknowledged, in order. The zero value is empty.
type spool struct {
	lastSeq     int64 // number of the last report
	unacked     []spooledReport
	windowExtra int           // bytes that may be in flight, beyond windowMin; 0 of an empty spool
	resendExtra time.Duration // wait before a report is sent again, beyond resendDelay
}

// A spooledReport is an encoded report that is not acknowledged.
type spooledReport struct {
	seq    int64
	text   []byte
	sentAt time.Time // when it was sent last; zero: never
	resent bool      // it was sent more than once
}

// addReport numbers a report and keeps it; dueReports returns it.
func (s *spool) addReport(r wire.Report) {
	s.lastSeq++
	r.Seq = s.lastSeq
	s.unacked = append(s.unacked, spooledReport{seq: s.lastSeq, text: wire.Encode(r)})
}

// isFull reports whether more reports are kept than should be.
func (s *spool) isFull() bool { return len(s.unacked) > spooledMax }

// acknowledgeUpTo drops the reports up to a number. When none is left, the window is the smallest
// again: acknowledgements of single seconds do not show that the line takes a whole final.
func (s *spool) acknowledgeUpTo(seq int64, now time.Time) {
	for len(s.unacked) > 0 && s.unacked[0].seq <= seq {
		if w := &s.unacked[0]; !w.sentAt.IsZero() &&
			!w.resent { // otherwise either copy may be the acknowledged one
			s.adaptWindow(len(w.text), now.Sub(w.sentAt))
		}
		s.unacked[0].text = nil
		s.unacked = s.unacked[1:]
	}
	if len(s.unacked) == 0 {
		s.windowExtra = 0
	}
}

// adaptWindow widens the window after bytes that were acknowledged soon, and narrows it after a
// slow acknowledgement. In that case reports are also sent again later, or they would be in
// flight several times.
func (s *spool) adaptWindow(bytes int, took time.Duration) {
	if took <= resendDelay/2 {
		s.windowExtra, s.resendExtra = min(s.windowExtra+bytes, windowMax-windowMin), 0
		return
	}
	s.windowExtra, s.resendExtra = s.windowExtra/2, min(max(2*took-resendDelay, 0),
		resendDelayMax-resendDelay)
}

// dueReports returns the reports to be sent now, for the first time or again. They are sent in
// order, because the controller accepts them in order only.
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
