// Package streams knows which events the streams on a worker's connections have had, and when. A
// worker says what is sent, and what has ended; its codecs give the bodies to a Conn, which is
// their sink. Package stream reads the events, and metric.Streams has what is counted.
//
// An event is received at the instant of the completion that brought its last byte. All counted
// events of a stream in one completion are one arrival: they came together, so there is no gap
// between them, and none is invented by dividing.
//
//	rain.go      a sample of streams: when each of their events came
//	streams.go   a worker's Watch, and the Conn of a connection
package streams

import (
	"cmp"
	"math"
	"math/bits"
	"time"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/goodput"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/stream"
)

// A Watch is what one worker knows of streams.
type Watch struct {
	Counters *metric.Streams // of the interval
	now      *int64
	window   *flow.Window
	reader   *stream.Reader
	stall    int64 // ns of silence behind the first event, at most; flow.NotYet: any
	take     int64 // a user leaves behind so many counted events,
	reads    int64 // or so many ns behind the first; flow.NotYet: never

	rain  rain
	show  *int // requests that are to be shown yet; nil: none ever is
	shown *one // that is read now

	turn   int64 // when the worker's present turn began
	unread int64 // since when bytes that are handled now may have lain unread
	idle   int64 // the ring's idle time when the turn began
}

// New makes the Watch of one of the plan's workers, which has so many connections; nil if answers
// are no streams. now is the worker's clock, and window its own.
func New(p *loadplan.Plan, connections int, now *int64, window *flow.Window) (*Watch, error) {
	if !p.Stream.IsSet() {
		return nil, nil
	}
	reader, err := stream.NewReader(p.Stream.Spec, max(p.Connections, connections)*p.Depth())
	if err != nil {
		return nil, err
	}
	w := &Watch{now: now, window: window, reader: reader, stall: flow.NotYet, reads: flow.NotYet,
		rain: rain{each: 1}}
	if p.Stream.Stall > 0 {
		w.stall = int64(p.Stream.Stall)
	}
	events, reads, err := p.Stream.Taken()
	if w.take = cmp.Or(events, math.MaxInt64); reads > 0 {
		w.reads = int64(reads)
	}
	return w, err
}

// BeginTurn notes that a turn of the worker begins, before which the ring was idle for so many ns
// in all. What it handles came while the turn before was busy, or just now if the worker slept.
func (w *Watch) BeginTurn(idle int64) {
	w.unread = w.turn
	if w.turn = *w.now; idle > w.idle {
		w.unread = w.turn
	}
	w.idle = idle
}

// Show has the events of requests kept while so many are to be shown.
func (w *Watch) Show(requests *int) {
	w.show = requests
	w.reader.See = func(data []byte, counted bool) {
		if s := w.shown; s.seen != nil && !(w.reader.ByArrival() && *w.now == s.last) {
			s.seen.Add(time.Duration(*w.now-s.sent), data, counted, &s.room)
		}
	}
}

// A Conn is the sink of a connection whose answers are streams. A nil one has none.
type Conn struct {
	watch *Watch
	inner proto.Sink // that is given what it wants; nil: there is none
	want  proto.Want // of inner
	of    []one      // by tag

	stirred bool // a stream has had its first event, or as many as are taken
}

// one is a stream in flight.
type one struct {
	stream.State
	due, sent   int64
	route       *loadresult.Route // that is counted apart; nil: none is
	number      int64             // in rain, with its place there
	first, last int64             // arrivals; 0: there was none
	longest     int64             // gap
	got         int64             // bytes of the body
	events      int64             // counted
	kind        []byte
	seen        *loadresult.Seen // of a request that is to be shown; nil: it is not
	room        int              // bytes that seen may keep
	place       uint8
	counted     bool // it was due in the window
	ignored     bool // the answer is none, by its status or because it is plain
	plain       bool // no stream was asked for
	left        bool // its user has left it
}

// NewConn makes the sink of a connection whose answers inner is given as far as they are wanted; a
// nil inner is given nothing.
func (w *Watch) NewConn(inner proto.Sink, want proto.Want) *Conn {
	return &Conn{watch: w, inner: inner, want: want}
}

// Begin begins exchange tag, which was due and is sent at these instants. The answer to a plain one
// is no stream.
func (c *Conn) Begin(tag uint32, due, sent int64, counted, plain bool, route *loadresult.Route) {
	for len(c.of) <= int(tag) { // grows to the codec's room, once
		c.of = append(c.of, one{})
	}
	s := &c.of[tag]
	s.State.Begin()
	s.due, s.sent, s.counted, s.left = due, sent, counted, false
	s.plain, s.ignored, s.route = plain, plain, route
	if s.seen = nil; c.watch.show != nil && *c.watch.show > 0 {
		s.seen, s.room = &loadresult.Seen{}, loadresult.ShownTexts
	}
	s.first, s.last, s.longest, s.got, s.events, s.kind = 0, 0, 0, 0, 0, s.kind[:0]
	if counted && !plain {
		s.number, s.place = c.watch.rain.begin(due)
	}
}

// The fields that a stream is judged by.
const (
	contentType     = "content-type"
	contentEncoding = "content-encoding"
)

// kindMost is how many bytes of a Content-Type are told.
const kindMost = 100

// Field looks at a field.
func (c *Conn) Field(tag uint32, name, value []byte, trailer bool) {
	switch s := &c.of[tag]; {
	case string(name) == contentType:
		s.kind = append(s.kind[:0], value[:min(len(value), kindMost)]...)
	case string(name) == contentEncoding && len(value) > 0 && string(value) != "identity":
		s.Fail(stream.Compressed, value)
	}
	if c.inner != nil && c.want.WantsField(name) {
		c.inner.Field(tag, name, value, trailer)
	}
}

// Body reads the next bytes of a body.
func (c *Conn) Body(tag uint32, b []byte) {
	s := &c.of[tag]
	if c.inner != nil {
		if part := c.want.Cut(s.got, b); len(part) > 0 {
			c.inner.Body(tag, part)
		}
	}
	s.got += int64(len(b))
	if s.Fault != stream.Compressed && !s.ignored {
		c.watch.shown = s
		began := s.first != 0
		c.watch.count(s, c.watch.reader.Read(&s.State, b))
		c.stirred = c.stirred || s.events >= c.watch.take || !began && s.first != 0
	}
}

// count counts events that came now.
func (w *Watch) count(s *one, n stream.Count) {
	now, to := *w.now, w.Counters
	if now == s.last && w.reader.ByArrival() {
		return // pieces of one arrival
	}
	if s.counted {
		to.All += int64(n.Events)
		to.Counted += int64(n.Counted)
		to.KeepAlives += int64(n.KeepAlives)
	}
	if n.Counted == 0 {
		return
	}
	s.events += int64(n.Counted)
	if w.window.IsMeasured(now) {
		if to.Received += int64(n.Counted); s.route != nil {
			s.route.Received += int64(n.Counted)
		}
	}
	if now == s.last { // of the same completion
		return
	}
	if w.window.IsMeasured(now) {
		to.ReadLag.Record(now - w.unread)
	}
	before := s.last
	s.last = now
	if before == 0 {
		s.first = now
	} else {
		s.longest = max(s.longest, now-before)
	}
	if !s.counted {
		return
	}
	to.Arrivals++
	w.rain.fall(s.number, s.place, now)
	if before == 0 {
		to.Eventful++
		to.First.Record(now - s.due)
		to.Service.Record(now - s.sent)
		if s.route != nil {
			s.route.First.Record(now - s.due)
		}
		return
	}
	w.recordGap(s, now-before)
}

// Gaps between these are those of Nagle's algorithm with delayed acknowledgements, of 40 ms.
const (
	bunchedFrom = 38_000_000
	bunchedTo   = 46_000_000
)

func (w *Watch) recordGap(s *one, ns int64) {
	if w.Counters.Gap.Record(ns); s.route != nil {
		s.route.Gap.Record(ns)
	}
	if ns >= bunchedFrom && ns <= bunchedTo {
		w.Counters.Bunched++
	}
}

// Ignore says that the answer to exchange tag is no stream: an error, or a redirect.
func (c *Conn) Ignore(tag uint32) { c.of[tag].ignored = true }

// Seen are the events of the stream of exchange tag; nil if it is not to be shown.
func (c *Conn) Seen(tag uint32) *loadresult.Seen {
	if c == nil {
		return nil
	}
	return c.of[tag].seen
}

// HasEvents reports whether exchange tag waits for no first event: its stream has had one, or it is
// plain.
func (c *Conn) HasEvents(tag uint32) bool { return c != nil && c.of[tag].hasEvents() }

func (s *one) hasEvents() bool { return s.first != 0 || s.plain }

// End ends the stream of exchange tag, whose answer is complete and of the right status, if right.
// It returns why it is an error, a *stream.Broken; nil: it is none.
func (c *Conn) End(tag uint32, right bool) error {
	s, w := &c.of[tag], c.watch
	if s.ignored {
		return nil
	}
	w.shown = s
	if !s.left { // else nobody knows the rest of the last event
		w.count(s, w.reader.Finish(&s.State))
	}
	if !right {
		return nil
	}
	w.reader.Judge(&s.State, s.events)
	if s.Tokens > 0 && w.window.IsMeasured(*w.now) {
		if w.Counters.ReceivedTokens += s.Tokens; s.route != nil {
			s.route.ReceivedTokens += s.Tokens
		}
	}
	if s.Fault != "" {
		return s.Broken(s.kind)
	}
	if s.counted {
		w.countWhole(s)
	}
	return nil
}

// AddTimes adds what the stream of exchange tag took to the times of its request.
func (c *Conn) AddTimes(tag uint32, t *goodput.Times) {
	s := &c.of[tag]
	if s.plain {
		return // limits of streams are not its
	}
	t[goodput.FirstEvent], t[goodput.GapMax], t[goodput.TokenTime] = -1, s.longest, s.tokenTime()
	if s.first != 0 {
		t[goodput.FirstEvent] = s.first - s.due
	}
}

// tokenTime is the stream's time a token; -1: the server told no number of tokens, or one token.
func (s *one) tokenTime() int64 {
	if s.Tokens < 2 {
		return -1
	}
	return (s.last - s.first) / (s.Tokens - 1)
}

// countWhole counts a stream that was right.
func (w *Watch) countWhole(s *one) {
	if w.Counters.Events.Record(s.events); s.left {
		w.Counters.Taken++
	}
	if s.Tokens < 0 {
		if !s.left {
			w.Counters.Untold++
		}
		return
	}
	w.Counters.Told += s.Tokens
	w.Counters.Tokens.Record(s.Tokens)
	if took := s.tokenTime(); took >= 0 {
		if w.Counters.Token.Record(took); s.route != nil {
			s.route.Token.Record(took)
		}
	}
}

// LookAt is when the stream of exchange tag may have been silent for too long, or its user leaves.
// flow.NotYet: never, or it has had no event; Stirred reports the first. The next ones need no
// timer: whoever looks then finds a later instant.
func (c *Conn) LookAt(tag uint32) int64 {
	if c == nil {
		return flow.NotYet
	}
	return c.lookAt(tag)
}

func (c *Conn) lookAt(tag uint32) int64 {
	s, w := &c.of[tag], c.watch
	if s.plain || s.first == 0 {
		return flow.NotYet
	}
	return min(after(s.last, w.stall), after(s.first, w.reads))
}

// after is an instant so many ns later; flow.NotYet: never.
func after(at, ns int64) int64 {
	if ns == flow.NotYet {
		return flow.NotYet
	}
	return at + ns
}

// Stirred reports, once, whether a stream has had its first event, so that LookAt may have an
// instant, or as many as are taken, so that its user may leave.
func (c *Conn) Stirred() (is bool) {
	if c != nil {
		is, c.stirred = c.stirred, false
	}
	return is
}

// Leaves reports whether the user of exchange tag's stream leaves now. Then the stream is over, as
// if its end had come, and had so many bytes of body.
func (c *Conn) Leaves(tag uint32) (body int64, is bool) {
	s, w := &c.of[tag], c.watch
	s.left = s.first != 0 && (s.events >= w.take || *w.now-s.first >= w.reads)
	s.Ended = s.Ended || s.left
	return s.got, s.left
}

// IsSilent reports whether the stream of exchange tag has been silent for too long.
func (c *Conn) IsSilent(tag uint32) bool {
	if c == nil {
		return false
	}
	s := &c.of[tag]
	return s.first != 0 && *c.watch.now-s.last >= c.watch.stall
}

// Lose ends a stream that failed in a phase, or that the run's end cut: "". It reports HasEvents.
func (c *Conn) Lose(tag uint32, phase loadresult.Phase) (eventful bool) {
	if c == nil {
		return false
	}
	s, to := &c.of[tag], c.watch.Counters
	silent := *c.watch.now - s.last
	switch eventful = s.hasEvents(); {
	case !s.counted || s.first == 0:
	case phase == loadresult.Stream: // it stalled, and the silence is a gap
		if to.Stalled++; s.route != nil {
			s.route.Stalled++
		}
		c.watch.recordGap(s, silent)
	case phase == "" || phase == loadresult.Timeout:
		if to.Cut++; s.route != nil {
			s.route.Cut++
		}
		to.Cuts[max(bits.Len64(uint64(silent))-1, 0)]++
		to.CutMost = max(to.CutMost, silent)
	}
	return eventful
}

// Keep is a reason of End that stays when another exchange has its tag.
func Keep(reason error) error {
	if b, is := reason.(*stream.Broken); is {
		return b.Clone()
	}
	return reason
}
