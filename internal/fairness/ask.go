package fairness

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/auth"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
	"dyno/internal/engine/stream"
	"dyno/internal/engine/transport"
	"dyno/internal/fact"
)

// How long asking may take, and how much it may ask.
const (
	maxAsk    = 60 * time.Second // everything; less if the context says so
	maxFresh  = 2 * time.Second  // then the exchanges made so far are enough
	maxKept   = time.Second
	maxBatch  = 200 * time.Millisecond
	maxServed = 10_000 // exchanges on one connection

	// A Date has seconds. A server that sets it by a timer may be late with it
	// on a busy machine, so that it is given three times the time.
	dateStep  = 1100 * time.Millisecond
	dateSteps = 3
)

// An asker asks one server; it makes one connection at a time.
type asker struct {
	*transport.Dialer
	q      Question
	speaks string // the protocol, as loadplan names it
	codecs codecs
	tally  *answerTally
	body   []byte    // of the last response, overwritten by the next
	few    int       // exchanges that are enough if they take long
	heads  bool      // answers are read up to the end of their heads
	first  time.Time // when the first response was complete
	sender auth.Sender

	here    bool // the server is on this machine, as far as can be seen
	secrecy *Secrecy
}

// Ask asks the server of q and returns what it answered. Unless q is brief it
// takes 1.2 s if there is a Date, up to 3.4 s if the Date stands still, and never
// more than 60 s, of streams 5 minutes, or ctx allows.
//
// An error says what was asked, which exchange failed and how: nothing listens,
// no answer in time, a connection closed too early, bytes that are not HTTP/1.x
// or are more than the response. Only the questions that no load will ask, those
// for gzip and for an unknown path, may go wrong without one.
func Ask(ctx context.Context, q Question) (*Answer, error) {
	a, err := newAsker(q)
	if err != nil {
		return nil, fmt.Errorf("fairness: cannot ask %q: %w", q.Way.Target.URL, err)
	}
	most := maxAsk
	if q.Stream != nil {
		most *= maxAskOf
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if err := a.askAll(ctx); err != nil {
		return nil, fmt.Errorf("fairness: asking %s %s%s: %w", a.q.Request.Method,
			q.Way.Target.URL, a.over(), err)
	}
	return a.tally.finishAnswer(), nil
}

func newAsker(q Question) (*asker, error) {
	if q.Times <= 0 {
		q.Times = 20
	}
	if q.KeepAlive <= 0 {
		q.KeepAlive = q.Times
	}
	way := q.Way
	way.Connecting, way.Pipeline, way.Streams = way.Timeout, 1, 1
	if way.Reconnect > 1 { // more requests follow one another than the load's
		way.Reconnect = 0
	}
	names, _ := way.OfferedProtocols()
	if len(names) > 1 {
		way.HTTP = "1.1"
	}
	d, err := transport.NewDialer(way)
	if err != nil {
		return nil, err
	}
	a := &asker{Dialer: d, q: q, speaks: names[len(names)-1], tally: newTally(&q), few: 2,
		sender: auth.NewSender(&way.Plan)}
	if q.Stream != nil {
		a.few, a.q.Times, a.q.KeepAlive = 1, streamTimes, streamTimes
		if q.Brief {
			a.q.Times = 1
		}
		if a.tally.reader, err = stream.NewReader(q.Stream.Spec, 1); err != nil {
			return nil, err
		}
		taken := &a.tally.taken
		if taken.events, taken.long, err = q.Stream.Taken(); err != nil {
			return nil, err
		}
	}
	return a, a.makeCodecs()
}

// isPlain reports whether HTTP/1 is spoken.
func (a *asker) isPlain() bool {
	return a.speaks == loadplan.HTTP11 || a.speaks == loadplan.HTTP10
}

// asksOnce reports whether the request itself is its connection's last.
func (a *asker) asksOnce() bool {
	o := h1.Options{Version10: a.speaks == loadplan.HTTP10}
	return a.q.Way.Reconnect == 1 || a.q.leaves() || a.isPlain() && o.EndsConnection(&a.q.Request)
}

// withHeader is q with one header field of that value.
func (q Question) withHeader(name, value string) Question {
	header := slices.DeleteFunc(slices.Clone(q.Request.Header), func(f proto.Field) bool {
		return strings.EqualFold(f.Name, name)
	})
	q.Request.Header = append(header, proto.Field{Name: name, Value: value})
	return q
}

// askAll asks everything. The Date comes last, as all else fits into its wait.
func (a *asker) askAll(ctx context.Context) (err error) {
	if err := a.askFresh(ctx); err != nil {
		return err
	}
	answer := a.tally.answer
	if !a.asksOnce() && !(a.q.Brief && a.q.Stream != nil) {
		if answer.Kept, err = a.askKept(ctx); err != nil {
			return err
		}
	}
	answer.TLS = a.secrecy
	if a.q.Brief {
		answer.Opens, answer.Date = notKnown(fact.OpensUnknown{Why: fact.InBrief}), DateUnasked
		if _, has := valueOf(answer.Header, "Date"); !has {
			answer.Date = DateAbsent
		}
		return nil
	}
	if a.heads = a.q.Stream != nil; a.heads {
		answer.Opens = notKnown(fact.OpensUnknown{Why: fact.OfStreams})
	} else if answer.Opens, err = a.countOpens(ctx); err != nil {
		return err
	}
	answer.Gzip = a.askGzip(ctx)
	answer.Unknown = a.askUnknown(ctx)
	answer.Date, err = a.askDate(ctx)
	return err
}

// askFresh asks each time on a new connection.
func (a *asker) askFresh(ctx context.Context) error {
	until := time.Now().Add(maxFresh)
	for i := range a.q.Times {
		if i >= a.few && time.Now().After(until) {
			return nil
		}
		r, err := a.exchangeOnce(ctx, &a.q)
		if err != nil {
			return fmt.Errorf("request %d, on a new connection: %w", i+1, err)
		}
		if i == 0 {
			a.first = time.Now()
		}
		a.tally.addResponse(r)
	}
	return nil
}

// exchangeOnce makes one exchange on a connection of its own, or on two if the first ends with the
// challenge.
func (a *asker) exchangeOnce(ctx context.Context, q *Question) (*response, error) {
	r, err := a.exchangeAlone(ctx, q)
	if err == nil && r.asks {
		r, err = a.exchangeAlone(ctx, q)
	}
	return r, err
}

func (a *asker) exchangeAlone(ctx context.Context, q *Question) (*response, error) {
	s, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return a.exchangeOn(ctx, s, q)
}

// exchangeOn makes one on s, with a second request if the server asks who sends the first. The
// response's body lasts until the next.
func (a *asker) exchangeOn(ctx context.Context, s *session, q *Question) (*response, error) {
	for again := false; ; again = true {
		r, err := s.exchange(ctx, q, a.body[:0])
		if r != nil {
			a.body = r.body
		}
		if err != nil || again || !a.sender.Asked(r.status, r.challenges()) {
			return r, err
		}
		if r.asks = r.closes || r.cut || r.left || a.heads; r.asks {
			return r, nil
		}
	}
}

// askKept asks on one connection as often as the server lets us.
func (a *asker) askKept(ctx context.Context) (*Kept, error) {
	s, err := a.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("a connection to be kept alive: %w", err)
	}
	defer s.close()
	k := &Kept{Asked: min(a.q.KeepAlive, maxServed)}
	until := time.Now().Add(maxKept)
	for k.Served < k.Asked {
		if k.Served >= a.few && time.Now().After(until) {
			k.End = EndTime
			return k, nil
		}
		r, err := a.exchangeOn(ctx, s, &a.q)
		switch {
		case k.Served > 0 && errors.Is(err, errClosed):
			k.End = EndSilent
			return k, nil
		case k.Served > 0 && errors.Is(err, errLeaving):
			k.End = EndAnnounced
			return k, nil
		case err != nil:
			return nil, fmt.Errorf("request %d on one connection: %w", k.Served+1, err)
		case r.asks && a.tally.answer.Status != r.status: // earlier answers were no challenges
			k.End = EndAnnounced
			return k, nil
		}
		k.Served++
		// The last response of a long connection says so and is not like the others.
		if !r.closes || k.Served == 1 {
			a.tally.addResponse(r)
		}
		switch {
		case r.cut:
			k.End = EndCut
			return k, nil
		case r.closes:
			k.End = EndAnnounced
			return k, nil
		}
	}
	k.End = EndAsked
	return k, nil
}

// askGzip asks as a browser would.
func (a *asker) askGzip(ctx context.Context) *Encoded {
	q := a.q.withHeader("Accept-Encoding", "gzip")
	r, err := a.exchangeOnce(ctx, &q)
	if err != nil {
		return &Encoded{Problem: err.Error()}
	}
	return &Encoded{Encoding: r.detectEncoding(), Status: r.status, BodyBytes: int64(len(r.body))}
}

// askUnknown asks for a path that no one can have prepared an answer for.
func (a *asker) askUnknown(ctx context.Context) *Unknown {
	q := a.q
	q.Request.Path = "/" + rand.Text()
	r, err := a.exchangeOnce(ctx, &q)
	if err != nil {
		return &Unknown{Problem: err.Error()}
	}
	return &Unknown{Status: r.status, SameBody: !a.heads &&
		a.tally.bodies[a.tally.bodyDigest(r.body)]}
}

// askDate asks once more when the Date must have changed since the first response.
func (a *asker) askDate(ctx context.Context) (Date, error) {
	value, has := valueOf(a.tally.answer.Header, "Date")
	if !has {
		return DateAbsent, nil
	}
	first, err := http.ParseTime(value)
	if err != nil {
		return DateUnreadable, nil
	}
	for i := range dateSteps {
		if err := sleepFor(ctx, time.Until(a.first.Add(time.Duration(i+1)*dateStep))); err != nil {
			return "", externalEnd(err)
		}
		r, err := a.exchangeOnce(ctx, &a.q)
		if err != nil {
			return "", fmt.Errorf("asking for the Date again: %w", err)
		}
		if !a.heads {
			a.tally.addResponse(r)
		}
		value, _ := valueOf(r.fields, "Date")
		now, err := http.ParseTime(value)
		switch {
		case err != nil:
			return DateUnreadable, nil
		case now.After(first):
			return DateAdvances, nil
		}
	}
	return DateFrozen, nil
}

func sleepFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
