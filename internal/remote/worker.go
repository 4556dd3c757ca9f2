package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/fairness"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
)

// A task is what a worker process is told, a line of JSON each: first what to
// do, and of a load, once it has said that it is ready, when to begin.
type task struct {
	Plan  []byte             `json:"plan,omitempty"` // as load.Pack packs it
	Ask   *fairness.Question `json:"ask,omitempty"`
	Fetch *fetchTask         `json:"fetch,omitempty"`
	Count string             `json:"count,omitempty"` // URL at which the server tells its count
	Begin *time.Time         `json:"begin,omitempty"`
}

// A fetchTask is a profile to be fetched and put into a file.
type fetchTask struct {
	Base string        `json:"base"`
	Kind profile.Kind  `json:"kind"`
	Time time.Duration `json:"time"`
	File string        `json:"file"`
}

// A message is what a worker process says, likewise. The last is a result, an answer,
// or why there is none.
type message struct {
	Ready    bool             `json:"ready,omitempty"` // its connections are open
	Interval *load.Interval   `json:"interval,omitempty"`
	Result   *result.Result   `json:"result,omitempty"`
	Answer   *fairness.Answer `json:"answer,omitempty"`
	Fetched  bool             `json:"fetched,omitempty"`
	Counted  *Count           `json:"counted,omitempty"`
	Error    string           `json:"error,omitempty"`
	Flaws    []load.Flaw      `json:"flaws,omitempty"` // of the plan, which Error then joins
}

func (w message) isLast() bool {
	return w.Result != nil || w.Answer != nil || w.Fetched || w.Counted != nil || w.Error != ""
}

// RunWorker is the life of a worker process: it does what the first task on in says,
// and tells what comes of it on out. When in ends, or ctx does, so does a load,
// with the result of what was measured until then. The error is that nobody was
// there to talk with; all others are said.
func RunWorker(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	tasks := json.NewDecoder(in)
	var first task
	if err := tasks.Decode(&first); err != nil {
		return fmt.Errorf("what a worker is to do was not said: %w", err)
	}
	begin := make(chan time.Time, 1)
	go func() {
		defer stop()
		for {
			var next task
			if tasks.Decode(&next) != nil {
				return
			}
			if next.Begin != nil {
				begin <- *next.Begin
			}
		}
	}()
	say := json.NewEncoder(out)
	last, err := first.carryOut(ctx, begin, say)
	if err != nil {
		last = message{Error: err.Error(), Flaws: planFlaws(err)}
	}
	return say.Encode(last)
}

// planFlaws are those of a plan, if err joins nothing else.
func planFlaws(err error) (all []load.Flaw) {
	joined, is := err.(interface{ Unwrap() []error })
	if !is {
		if flaw, is := err.(load.Flaw); is {
			return []load.Flaw{flaw}
		}
		return nil
	}
	for _, each := range joined.Unwrap() {
		more := planFlaws(each)
		if more == nil {
			return nil
		}
		all = append(all, more...)
	}
	return all
}

// carryOut is one task, but for its last word.
func (t task) carryOut(ctx context.Context, begin <-chan time.Time, say *json.Encoder) (message,
	error) {
	switch {
	case t.Plan != nil:
		p, err := load.Unpack(t.Plan)
		if err != nil {
			return message{}, fmt.Errorf("reading the plan: %w", err)
		}
		r, err := loadShare(ctx, p, begin, say)
		return message{Result: r}, err
	case t.Ask != nil:
		a, err := fairness.Ask(ctx, *t.Ask)
		return message{Answer: a}, err
	case t.Fetch != nil:
		f := t.Fetch
		p, err := profile.Fetch(ctx, f.Base, f.Kind, f.Time)
		if err == nil {
			err = profile.Save(f.File, p)
		}
		return message{Fetched: err == nil}, err
	case t.Count != "":
		c, err := FetchCount(ctx, t.Count)
		return message{Counted: &c}, err
	}
	return message{}, errors.New("a worker was told to do nothing that it can")
}

// loadShare carries out a plan, beginning with the others. That nobody listens any
// more shows at the end.
func loadShare(ctx context.Context, p load.Plan, begin <-chan time.Time, say *json.Encoder) (
	*result.Result, error) {
	meet := func(ctx context.Context) time.Time {
		say.Encode(message{Ready: true})
		select {
		case at := <-begin:
			return at
		case <-ctx.Done():
			return time.Time{}
		}
	}
	each := func(iv load.Interval) { say.Encode(message{Interval: &iv}) }
	r, err := load.RunTogether(ctx, p, meet, each)
	if err != nil {
		return nil, err
	}
	return result.From(r, load.Version)
}
