package fleet

import (
	"slices"
	"testing"
	"time"

	"dyno/internal/fleet/wire"
)

// A line takes so many bytes a second, in order, and each of them so long. Time is virtual.
type line struct {
	rate   int
	lose   func(n int) bool // the n-th report that is said
	now    time.Time
	free   time.Time // when all that was said is through
	under  []message // on its way, in order
	acks   []message
	said   int // reports, and
	bytes  int // of them
	spool  spool
	have   int64 // the last report that came in order
	heard  time.Time
	moved  time.Time     // when a report came last that had not come before
	silent time.Duration // longest between two messages that came
	stuck  time.Duration // and between two reports that had not come before
}

type message struct {
	seq int64 // 0: a beat
	at  time.Time
}

// way is how long a message takes besides.
const way = 50 * time.Millisecond

func (l *line) sendMessage(seq int64, bytes int) {
	if l.free.Before(l.now) {
		l.free = l.now
	}
	l.free = l.free.Add(time.Duration(bytes) * time.Second / time.Duration(l.rate))
	if seq > 0 {
		l.said++
		l.bytes += bytes
	}
	if seq == 0 || l.lose == nil || !l.lose(l.said) {
		l.under = append(l.under, message{seq, l.free.Add(way)})
	}
}

// sendDueReports says what is due. What is due again begins with the first that waits.
func (l *line) sendDueReports() {
	for _, text := range l.spool.dueReports(l.now) {
		i := slices.IndexFunc(l.spool.unacked, func(r spooledReport) bool { return &r.text[0] == &text[0] })
		l.sendMessage(l.spool.unacked[i].seq, len(text))
	}
}

// deliverArrived is what the controller does with what has come, and the agent with its answers.
func (l *line) deliverArrived() {
	for len(l.under) > 0 && !l.under[0].at.After(l.now) {
		m := l.under[0]
		l.under = l.under[1:]
		l.silent, l.heard = max(l.silent, m.at.Sub(l.heard)), m.at
		if m.seq == 0 {
			continue
		}
		if m.seq == l.have+1 {
			l.stuck, l.moved = max(l.stuck, m.at.Sub(l.moved)), m.at
			l.have++
		}
		l.acks = append(l.acks, message{l.have, m.at.Add(way)})
	}
	for len(l.acks) > 0 && !l.acks[0].at.After(l.now) {
		l.spool.acknowledgeUpTo(l.acks[0].seq, l.now)
		l.acks = l.acks[1:]
		l.sendDueReports()
	}
}

// run says beats and what is due, and delivers, for so long or until over says that it is enough.
// Each second is given a number from 0.
func (l *line) run(most time.Duration, second func(i int), over func() bool) {
	start := l.now
	for i := 0; l.now.Sub(start) < most && !over(); i++ {
		if i%1000 == 0 {
			second(i / 1000)
		}
		if i%int(heartbeatInterval/time.Millisecond) == 0 {
			l.sendMessage(0, 100)
		}
		if i%int(deadlineInterval/time.Millisecond) == 0 {
			l.sendDueReports()
		}
		l.now = start.Add(time.Duration(i) * time.Millisecond)
		l.deliverArrived()
	}
}

// runSeconds has the agent report so many seconds, each of so many bytes, before its final. Then the
// counts begin anew.
func (l *line) runSeconds(n, bytes int) {
	l.run(time.Hour, func(i int) {
		if i < n {
			l.spool.addReport(wire.Report{RunRef: wire.RunRef{Run: "r", Epoch: "e"}, Data: make([]byte, bytes)})
		}
	}, func() bool { return l.have == int64(n) && len(l.spool.unacked) == 0 })
	l.said, l.bytes, l.silent, l.stuck, l.heard, l.moved = 0, 0, 0, 0, l.now, l.now
}

// More than the longest final comes over a slow line, and over one that loses some of it: nobody takes
// its agent for lost, and not much is said twice.
func TestSlowLine(t *testing.T) {
	const pieces, seconds = 80, 400
	for name, c := range map[string]struct {
		rate  int
		lose  func(n int) bool
		twice float64 // how much may be said in all, of what there is
	}{
		"256 kbit/s":               {32 << 10, nil, 1.1},
		"1 Mbit/s":                 {125_000, nil, 1.1},
		"1 Gbit/s":                 {125_000_000, nil, 1},
		"a piece is lost":          {125_000, func(n int) bool { return n == 20 }, 1.3},
		"every tenth is lost":      {1_250_000, func(n int) bool { return n%10 == 9 }, 3},
		"nothing comes for a time": {1_250_000, func(n int) bool { return n >= 20 && n < 40 }, 1.5},
	} {
		start := time.Now()
		l := &line{rate: c.rate, now: start, heard: start, moved: start}
		l.runSeconds(seconds, 3<<10)
		start, l.lose = l.now, c.lose
		for range pieces {
			l.spool.addReport(wire.Report{RunRef: wire.RunRef{Run: "r", Epoch: "e"}, Data: make([]byte, wire.FinalPieceMax)})
		}
		all := 0
		for _, w := range l.spool.unacked {
			all += len(w.text)
		}
		l.run(time.Hour, func(int) {}, func() bool { return len(l.spool.unacked) == 0 })
		took, least := l.now.Sub(start), time.Duration(all)*time.Second/time.Duration(c.rate)
		t.Logf("%s: %v of %v at least; said %.2f times; nothing came for %v, nothing new for %v", name, took, least,
			float64(l.bytes)/float64(all), l.silent, l.stuck)
		if l.have != seconds+pieces || l.silent > Lease || l.stuck > finalSlack || float64(l.bytes) > c.twice*float64(all) {
			t.Errorf("%s: %d pieces came, %d bytes of %d were said; nothing came for %v, nothing new for %v", name,
				l.have-seconds, l.bytes, all, l.silent, l.stuck)
		}
	}
}
