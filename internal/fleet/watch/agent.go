package watch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/fleet/wire"
	"dyno/internal/observe/probe"
)

// An Agent lets its machine be watched.
type Agent struct {
	Conn   *nats.Conn
	Name   string
	Verify func(question, signature []byte) error
	Log    func(string) // gets each line of what it does; nil: none

	nonceOrigin time.Time // of the nonces' clock
	nonces      wire.Nonces
	complaints  wire.LimitedLog
}

// An activeWatch is a watch on the agent's side.
type activeWatch struct {
	sampler   *probe.Sampler
	recording *probe.Recording // set once the watch has ended
	heardAt   time.Time
	number    int64 // of the last question
}

// Serve answers questions until ctx ends. The error says why it cannot.
func (a *Agent) Serve(ctx context.Context) error {
	a.initNonces()
	heard := make(chan *nats.Msg)
	sub, err := wire.Subscribe(a.Conn, wire.CommandSubject(a.Name, verb), queuedMessagesMax,
		queuedBytesMax,
		func(m *nats.Msg) {
			select {
			case heard <- m:
			case <-ctx.Done():
			}
		})
	if err != nil {
		return fmt.Errorf("listening to whoever watches: %w", err)
	}
	defer sub.Unsubscribe()
	watches := map[string]*activeWatch{}
	defer func() {
		for _, v := range watches {
			v.stopSampling()
		}
	}()
	tick := time.NewTicker(keepAliveInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-heard:
			a.answerQuestion(watches, m, time.Now())
		case now := <-tick.C:
			for id, v := range watches {
				if now.Sub(v.heardAt) > watchTimeout {
					v.stopSampling()
					delete(watches, id)
				}
			}
		}
	}
}

// initNonces makes the key of this process's nonces.
func (a *Agent) initNonces() {
	a.nonceOrigin, a.complaints.Log = time.Now(), a.Log
	a.nonces = wire.Nonces{Key: []byte(rand.Text()), Void: -1}
}

// answerQuestion answers m if it is a valid question.
func (a *Agent) answerQuestion(watches map[string]*activeWatch, m *nats.Msg, now time.Time) {
	q, err := a.parseQuestion(m.Data)
	if err != nil {
		a.complaints.Print("ignored", err, now)
		return
	}
	out := answer{ID: q.ID}
	switch fresh, err := a.isFresh(watches, q, now); {
	case err != nil:
		a.complaints.Print("ignored", err, now)
		return
	case !fresh:
		out.Nonce = a.nonces.Issue(int64(now.Sub(a.nonceOrigin)))
	default:
		if out.Seen, err = a.carryOut(watches, q, now); err != nil {
			out.Fault = err.Error()
		}
	}
	b, err := json.Marshal(out)
	if err == nil {
		err = a.Conn.Publish(wire.EventSubject(a.Name, verb), b)
	}
	if err != nil {
		a.complaints.Print("not answered", err, now)
	}
}

// isFresh reports whether a question was asked just now: it belongs to a watch in progress and is
// newer than those before it, or it has an unused nonce. The error is that it was asked before.
func (a *Agent) isFresh(watches map[string]*activeWatch, q question, now time.Time) (bool, error) {
	if v := watches[q.ID]; v != nil {
		if q.Number <= v.number {
			return false, errors.New("a question that was asked before, or something later was")
		}
		v.number = q.Number
		return true, nil
	}
	at := int64(now.Sub(a.nonceOrigin))
	_, good := a.nonces.IssuedAt(q.Nonce, at)
	if good {
		a.nonces.Void = at
	}
	return good, nil
}

// parseQuestion returns the question in b. It fails unless the question is signed and for this
// agent.
func (a *Agent) parseQuestion(b []byte) (q question, err error) {
	var s signed
	if err := decodeStrict(b, &s); err != nil {
		return q, err
	}
	if err := a.Verify(s.Question, s.Signature); err != nil {
		return q, err
	}
	if err := decodeStrict(s.Question, &q); err != nil {
		return q, err
	}
	if q.Agent != a.Name {
		return q, fmt.Errorf("a question for %q", q.Agent)
	}
	return q, nil
}

// carryOut begins, keeps or ends a watch as q says, and returns what was seen in q's window.
func (a *Agent) carryOut(watches map[string]*activeWatch, q question, now time.Time) (*Seen,
	error) {
	v := watches[q.ID]
	if v == nil {
		if q.Long > 0 {
			return nil, errors.New("the watch is over: nothing was heard of the controller for too long")
		}
		if len(watches) >= watchesMax {
			return nil, fmt.Errorf("%d watches are under way on %s", len(watches), a.Name)
		}
		var err error
		if v, err = startSampling(q.Processes); err != nil {
			return nil, err
		}
		v.number, watches[q.ID] = q.Number, v
		a.logLine("watched: " + strings.Join(q.Processes, ", "))
	}
	v.heardAt = now
	if q.Long <= 0 {
		return nil, nil
	}
	v.stopSampling()
	from := now.Add(-q.Ago)
	to := from.Add(q.Long)
	return &Seen{Trees: v.recording.Between(from, to), Host: v.recording.Host(from, to),
		Sampler: v.recording.Cost, Unavailable: v.recording.Unavailable}, nil
}

// startSampling starts to sample processes, by PID or name, and the machine.
func startSampling(processes []string) (*activeWatch, error) {
	var trees []probe.Tree
	for _, p := range processes {
		var err error
		if trees, err = probe.Also(trees, p); err != nil {
			return nil, err
		}
	}
	s, err := probe.Start(probe.Config{Trees: func() []probe.Tree { return trees }})
	if err != nil {
		return nil, err
	}
	return &activeWatch{sampler: s}, nil
}

func (v *activeWatch) stopSampling() {
	if v.recording == nil {
		v.recording = v.sampler.Stop()
	}
}

func (a *Agent) logLine(line string) {
	if a.Log != nil {
		a.Log(line)
	}
}
