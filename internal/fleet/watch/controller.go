package watch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/fleet/wire"
)

// A Watch is a watch on an agent's machine, on the controller's side.
type Watch struct {
	conn  *nats.Conn
	sub   *nats.Subscription
	agent string
	sign  func([]byte) ([]byte, error)
	id    string
	names []string

	questionsAsked int64  // by one goroutine at a time
	nonce          string // of the agent's last answer; "": none yet

	stopKeeping context.CancelFunc
	keeper      sync.WaitGroup
}

// BeginWatch has the agent of that name watch processes, given by PID or name, until EndWindow or
// the end of ctx. sign is the plan key's.
func BeginWatch(ctx context.Context, conn *nats.Conn, agent string, processes []string,
	sign func([]byte) ([]byte, error)) (*Watch, error) {
	sub, err := conn.SubscribeSync(wire.EventSubject(agent, verb))
	if err != nil {
		return nil, fmt.Errorf("listening to %s: %w", agent, err)
	}
	w := &Watch{conn: conn, sub: sub, agent: agent, sign: sign, id: rand.Text(), names: processes}
	if _, err := w.askAgent(ctx, func() question { return question{} }); err != nil {
		w.sub.Unsubscribe()
		return nil, err
	}
	ctx, w.stopKeeping = context.WithCancel(ctx)
	w.keeper.Go(func() { w.keepAlive(ctx) })
	return w, nil
}

// keepAlive keeps the agent's watch until ctx ends.
func (w *Watch) keepAlive(ctx context.Context) {
	tick := time.NewTicker(keepAliveInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if b, err := w.signedQuestion(question{}); err == nil {
				w.conn.Publish(wire.CommandSubject(w.agent, verb), b) // the next is as good
			}
		}
	}
}

// EndWindow ends the watch and returns what was used between two instants of this process's
// clock.
func (w *Watch) EndWindow(ctx context.Context, from, to time.Time) (*Seen, error) {
	w.StopKeeping()
	seen, err := w.askAgent(ctx, func() question {
		return question{Ago: time.Since(from), Long: max(to.Sub(from), 1)}
	})
	if err == nil && seen == nil {
		err = fmt.Errorf("%s does not say what it has seen", w.agent)
	}
	return seen, err
}

// StopKeeping stops keeping the watch alive. The agent ends it after a timeout, unless EndWindow
// is called.
func (w *Watch) StopKeeping() {
	w.stopKeeping()
	w.keeper.Wait()
}

// signedQuestion returns q as it is sent.
func (w *Watch) signedQuestion(q question) ([]byte, error) {
	w.questionsAsked++
	q.ID, q.Agent, q.Processes, q.Nonce, q.Number = w.id, w.agent, w.names, w.nonce, w.questionsAsked
	b, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	signature, err := w.sign(b)
	if err != nil {
		return nil, fmt.Errorf("signing a question: %w", err)
	}
	return json.Marshal(signed{b, signature})
}

// askAgent sends a question until the agent answers. q makes it anew each time.
func (w *Watch) askAgent(ctx context.Context, q func() question) (*Seen, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	for ctx.Err() == nil {
		asked := q()
		b, err := w.signedQuestion(asked)
		if err == nil {
			err = w.conn.Publish(wire.CommandSubject(w.agent, verb), b)
		}
		if err != nil {
			return nil, err
		}
		a, err := w.nextAnswer(time.Now().Add(resendInterval), asked.Long > 0)
		switch {
		case err != nil:
			return nil, fmt.Errorf("hearing %s: %w", w.agent, err)
		case a != nil && a.Nonce != "": // to prove that the question is new
			w.nonce = a.Nonce
		case a != nil && a.Fault != "":
			return nil, fmt.Errorf("%s: %s", w.agent, a.Fault)
		case a != nil:
			return a.Seen, nil
		}
	}
	return nil, fmt.Errorf("%s does not answer; was dyno agent --watch started there?", w.agent)
}

// nextAnswer returns the next answer to this watch, or nil if none comes until then. If window is
// set it skips answers to the questions that keep the watch.
func (w *Watch) nextAnswer(until time.Time, window bool) (*answer, error) {
	for {
		m, err := w.sub.NextMsg(max(time.Until(until), time.Millisecond))
		if errors.Is(err, nats.ErrTimeout) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		a := new(answer)
		if decodeStrict(m.Data, a) == nil && a.ID == w.id &&
			(!window || a.Seen != nil || a.Fault != "" || a.Nonce != "") {
			return a, nil
		}
	}
}
