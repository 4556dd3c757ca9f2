package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/unpack"
	"dyno/internal/fairness"
	"dyno/internal/observe/profile"
)

// A task is a line of JSON to a worker process. The first says what to do. If that is a load, a
// second one says when to begin, once the worker has reported that it is ready.
type task struct {
	Plan  json.RawMessage    `json:"plan,omitempty"` // as loadplan.Pack packs it
	Ask   *fairness.Question `json:"ask,omitempty"`
	Fetch *fetchTask         `json:"fetch,omitempty"`
	Count string             `json:"count,omitempty"` // URL at which the server reports its count
	Begin *time.Time         `json:"begin,omitempty"`
	Share *load.Share        `json:"share,omitempty"` // of the arrivals, from an instant on

	Brief  bool   `json:"brief,omitempty"`  // the result is within the limits of reports
	Memory uint64 `json:"memory,omitempty"` // bytes that the worker may take; 0: any number
}

// A fetchTask is a profile to fetch and to write to a file.
type fetchTask struct {
	Base string        `json:"base"`
	Kind profile.Kind  `json:"kind"`
	Time time.Duration `json:"time"`
	File string        `json:"file"`
}

// A message is a line of JSON from a worker process. The final one is a result, an answer, or an
// error.
type message struct {
	Ready    bool                 `json:"ready,omitempty"` // its connections are open
	Interval *loadresult.Interval `json:"interval,omitempty"`
	Result   *loadresult.Result   `json:"result,omitempty"` // without what the intervals tell
	Answer   *fairness.Answer     `json:"answer,omitempty"`
	Fetched  bool                 `json:"fetched,omitempty"`
	Counted  *Count               `json:"counted,omitempty"`
	Error    string               `json:"error,omitempty"`
	Flaws    []loadplan.Flaw      `json:"flaws,omitempty"` // of the plan; Error joins their texts
}

func (w message) isFinal() bool {
	return w.Result != nil || w.Answer != nil || w.Fetched || w.Counted != nil || w.Error != ""
}

// RunWorker runs a worker process. It carries out the first task on in, and writes messages to out.
// A load ends when in or ctx does, and the result covers what was measured until then. It returns
// an error only if it could not communicate. All other errors are sent as messages.
func RunWorker(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	tasks := json.NewDecoder(in)
	var first task
	if err := tasks.Decode(&first); err != nil {
		return fmt.Errorf("what a worker is to do was not said: %w", err)
	}
	begin, shares := make(chan time.Time, 1), make(chan load.Share)
	go func() {
		defer stop()
		for {
			var next task
			if tasks.Decode(&next) != nil {
				return
			}
			switch {
			case next.Begin != nil:
				begin <- *next.Begin
			case next.Share != nil:
				select {
				case shares <- *next.Share:
				case <-ctx.Done():
				}
			}
		}
	}()
	messages := json.NewEncoder(out)
	limitMemory(first.Memory)
	if !first.Brief {
		shares = nil
	}
	last, err := first.runTask(ctx, begin, shares, messages)
	if err != nil {
		last = message{Error: err.Error(), Flaws: planFlaws(err)}
	}
	return messages.Encode(last)
}

// planFlaws are the flaws of a plan, if err joins nothing else.
func planFlaws(err error) (all []loadplan.Flaw) {
	joined, is := err.(interface{ Unwrap() []error })
	if !is {
		if flaw, is := err.(loadplan.Flaw); is {
			return []loadplan.Flaw{flaw}
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

// runTask carries out one task and returns the final message.
func (t task) runTask(ctx context.Context, begin <-chan time.Time, shares <-chan load.Share,
	messages *json.Encoder) (message, error) {
	switch {
	case t.Plan != nil:
		p, err := unpack.Plan(t.Plan)
		if err != nil {
			return message{}, fmt.Errorf("reading the plan: %w", err)
		}
		p.TellScenario(ctx.Done())
		r, err := runLoadPart(ctx, p, begin, shares, messages)
		if err != nil {
			return message{}, err
		}
		if t.Brief {
			return message{Result: Describe(r)}, nil
		}
		return message{Result: r.Told()}, nil
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

// runLoadPart runs a plan together with other generators. If the parent no longer reads messages,
// RunWorker fails in the end.
func runLoadPart(ctx context.Context, p loadplan.Plan, begin <-chan time.Time,
	shares <-chan load.Share, messages *json.Encoder) (*loadresult.Result, error) {
	meet := func(ctx context.Context) time.Time {
		messages.Encode(message{Ready: true})
		select {
		case at := <-begin:
			return at
		case <-ctx.Done():
			return time.Time{}
		}
	}
	each := func(iv loadresult.Interval) { messages.Encode(message{Interval: &iv}) }
	return load.RunShared(ctx, p, meet, shares, each)
}
