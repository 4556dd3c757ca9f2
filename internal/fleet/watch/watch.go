// Package watch lets whoever runs a fleet see what a server uses on a machine that
// was lent to be looked at: an Agent samples the processes that it is asked for, and
// says at the end what they used in the window of a run.
//
// The two machines' clocks are never compared. The controller says how long ago the
// window was, which is off by the time that its message takes; the readings are a fifth
// of a second apart. As no answer can be lost for good, it asks until it is answered.
package watch

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/fleet/wire"
	"dyno/internal/observe/probe"
)

const (
	verb = "watch" // last word of the subjects

	lease    = 15 * time.Second // after which an agent that hears nothing ends a watch
	beat     = 3 * time.Second  // of a controller that wants it to go on
	again    = time.Second      // after which a question is asked once more
	patience = 10 * time.Second // after which it is given up
	watches  = 8                // at once, on one machine

	queued      = 1 << 10 // messages that wait to be read, and their bytes
	queuedBytes = 1 << 20
)

// A question is what a controller wants: the first of an ID begins a watch, the next keep
// it, and one with a window ends it. Who has recorded one can have nothing done by it later: the
// first has a nonce that the agent has just given out, and the next count up.
type question struct {
	ID        string        `json:"id"`
	Agent     string        `json:"agent"`           // so that it cannot be shown to another
	Nonce     string        `json:"nonce,omitempty"` // of the agent's last answer
	Number    int64         `json:"number"`          // larger than of those before it in the watch
	Processes []string      `json:"processes"`
	Ago       time.Duration `json:"ago,omitempty"`  // ns since the window began
	Long      time.Duration `json:"long,omitempty"` // ns that it lasted
}

// A signed question is one that its agent can believe.
type signed struct {
	Question  []byte `json:"question"`
	Signature []byte `json:"signature"`
}

// An answer is what there is to say to a question.
type answer struct {
	ID    string `json:"id"`
	Nonce string `json:"nonce,omitempty"` // nothing was begun: ask again, with this
	Fault string `json:"fault,omitempty"`
	Seen  *Seen  `json:"seen,omitempty"` // of the window, if the question had one
}

// Seen is what was used in a window where an agent is.
type Seen struct {
	Trees       []probe.Use   `json:"trees"`
	Host        probe.HostUse `json:"host"`
	Sampler     probe.Cost    `json:"sampler"`
	Unavailable []string      `json:"unavailable,omitempty"`
}

// An Agent is a machine that may be watched.
type Agent struct {
	Conn   *nats.Conn
	Name   string
	Verify func(question, signature []byte) error
	Tell   func(string) // what it is asked, a line each; nil: nobody listens

	begun      time.Time // of the clock of its nonces
	nonces     wire.Nonces
	complaints wire.LimitedLog
}

// A vigil is a watch that an agent keeps.
type vigil struct {
	sampler   *probe.Sampler
	recording *probe.Recording // once it is over
	heard     time.Time
	number    int64 // of the last question
}

// Serve answers until ctx ends. The error is that it cannot take part.
func (a *Agent) Serve(ctx context.Context) error {
	a.prepare()
	heard := make(chan *nats.Msg)
	sub, err := wire.Subscribe(a.Conn, wire.CommandSubject(a.Name, verb), queued, queuedBytes,
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
	all := map[string]*vigil{}
	defer func() {
		for _, v := range all {
			v.end()
		}
	}()
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-heard:
			a.hear(all, m, time.Now())
		case now := <-tick.C:
			for id, v := range all {
				if now.Sub(v.heard) > lease {
					v.end()
					delete(all, id)
				}
			}
		}
	}
}

// prepare makes the key of this life's nonces.
func (a *Agent) prepare() {
	a.begun, a.complaints.Log = time.Now(), a.Tell
	a.nonces = wire.Nonces{Key: []byte(rand.Text()), Void: -1}
}

// hear answers what m asks, if it is asked by who may.
func (a *Agent) hear(all map[string]*vigil, m *nats.Msg, now time.Time) {
	q, err := a.read(m.Data)
	if err != nil {
		a.complaints.Print("ignored", err, now)
		return
	}
	out := answer{ID: q.ID}
	switch fresh, err := a.fresh(all, q, now); {
	case err != nil:
		a.complaints.Print("ignored", err, now)
		return
	case !fresh:
		out.Nonce = a.nonces.Issue(int64(now.Sub(a.begun)))
	default:
		if out.Seen, err = a.look(all, q, now); err != nil {
			out.Fault = strings.TrimPrefix(err.Error(), "probe: ")
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

// fresh reports whether a question was asked just now: it is a later one of a watch that is under
// way, or has a nonce that was not used. The error is that it was heard before.
func (a *Agent) fresh(all map[string]*vigil, q question, now time.Time) (bool, error) {
	if v := all[q.ID]; v != nil {
		if q.Number <= v.number {
			return false, errors.New("a question that was asked before, or something later was")
		}
		v.number = q.Number
		return true, nil
	}
	at := int64(now.Sub(a.begun))
	_, good := a.nonces.IssuedAt(q.Nonce, at)
	if good {
		a.nonces.Void = at
	}
	return good, nil
}

// read is the question in b, if it is for this agent and signed.
func (a *Agent) read(b []byte) (q question, err error) {
	var s signed
	if err := strictly(b, &s); err != nil {
		return q, err
	}
	if err := a.Verify(s.Question, s.Signature); err != nil {
		return q, err
	}
	if err := strictly(s.Question, &q); err != nil {
		return q, err
	}
	if q.Agent != a.Name {
		return q, fmt.Errorf("a question for %q", q.Agent)
	}
	return q, nil
}

// look does what q asks, which is nothing but to look.
func (a *Agent) look(all map[string]*vigil, q question, now time.Time) (*Seen, error) {
	v := all[q.ID]
	if v == nil {
		if q.Long > 0 {
			return nil, errors.New("the watch is over: nothing was heard of the controller for too long")
		}
		if len(all) >= watches {
			return nil, fmt.Errorf("%d watches are under way on %s", len(all), a.Name)
		}
		var err error
		if v, err = begin(q.Processes); err != nil {
			return nil, err
		}
		v.number, all[q.ID] = q.Number, v
		a.tell("watched: " + strings.Join(q.Processes, ", "))
	}
	v.heard = now
	if q.Long <= 0 {
		return nil, nil
	}
	v.end()
	from := now.Add(-q.Ago)
	to := from.Add(q.Long)
	return &Seen{Trees: v.recording.Between(from, to), Host: v.recording.Host(from, to),
		Sampler: v.recording.Cost, Unavailable: v.recording.Unavailable}, nil
}

// begin starts to watch what is called so, and the machine.
func begin(processes []string) (*vigil, error) {
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
	return &vigil{sampler: s}, nil
}

func (v *vigil) end() {
	if v.recording == nil {
		v.recording = v.sampler.Stop()
	}
}

func (a *Agent) tell(line string) {
	if a.Tell != nil {
		a.Tell(line)
	}
}

// strictly reads b, one JSON value of a limited length, and accepts nothing that v does
// not have.
func strictly(b []byte, v any) error {
	if len(b) > wire.MessageMax {
		return fmt.Errorf("a message of %d bytes; %d at most", len(b), wire.MessageMax)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("reading what is watched: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("reading what is watched: something follows it")
	}
	return nil
}
