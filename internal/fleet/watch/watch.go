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

	watchTimeout      = 15 * time.Second // after which an agent that hears nothing ends a watch
	keepAliveInterval = 3 * time.Second  // of a controller that wants it to go on
	resendInterval    = time.Second      // after which a question is asked once more
	answerTimeout     = 10 * time.Second // after which it is given up
	watchesMax        = 8                // at once, on one machine

	queuedMessagesMax = 1 << 10 // messages that wait to be read, and their bytes
	queuedBytesMax    = 1 << 20
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
	Log    func(string) // what it is asked, a line each; nil: nobody listens

	nonceOrigin time.Time // of the clock of its nonces
	nonces      wire.Nonces
	complaints  wire.LimitedLog
}

// A activeWatch is a watch that an agent keeps.
type activeWatch struct {
	sampler   *probe.Sampler
	recording *probe.Recording // once it is over
	heardAt   time.Time
	number    int64 // of the last question
}

// Serve answers until ctx ends. The error is that it cannot take part.
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

// initNonces makes the key of this life's nonces.
func (a *Agent) initNonces() {
	a.nonceOrigin, a.complaints.Log = time.Now(), a.Log
	a.nonces = wire.Nonces{Key: []byte(rand.Text()), Void: -1}
}

// answerQuestion answers what m asks, if it is asked by who may.
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

// isFresh reports whether a question was asked just now: it is a later one of a watch that is under
// way, or has a nonce that was not used. The error is that it was heard before.
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

// parseQuestion is the question in b, if it is for this agent and signed.
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

// carryOut does what q asks, which is nothing but to look.
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
		if v, err = startVigil(q.Processes); err != nil {
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

// startVigil starts to watch what is called so, and the machine.
func startVigil(processes []string) (*activeWatch, error) {
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

// decodeStrict reads b, one JSON value of a limited length, and accepts nothing that v does
// not have.
func decodeStrict(b []byte, v any) error {
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
