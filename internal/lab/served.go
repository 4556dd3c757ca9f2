package lab

import (
	"context"
	"fmt"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/remote"
	"dyno/internal/result"
)

const (
	settleTime = 50 * time.Millisecond // between two questions before a load
	settleMost = 20                    // until it begins although something is still counted
)

// settled asks until a question is all that was counted since the last: what was sent before this
// load, and given up, may still have waited to be read.
func settled(ctx context.Context, count remote.Counter) (remote.Count, error) {
	last, err := count(ctx)
	for range settleMost {
		if err != nil {
			return last, err
		}
		sleep(ctx, settleTime)
		var next remote.Count
		next, err = count(ctx)
		grown := next.Served - last.Served
		if next.Own {
			grown--
		}
		if last = next; grown == 0 {
			break
		}
	}
	return last, err
}

// Served is what a server counted of a load, beside the requests that all its clients sent
// together, each once. Of both it is the whole load, from before the window to after it.
type Served struct {
	Server  int64 `json:"server"`
	Clients int64 `json:"clients"`
}

// counted has p loaded between two counts of the server, if it tells any.
func (t *Trial) counted(ctx context.Context, count remote.Counter, p load.Plan, run result.Runner) (
	*result.Result, error) {
	if count == nil {
		return run(ctx, p, func(load.Interval) {})
	}
	before, err := settled(ctx, count)
	if err != nil {
		return nil, err
	}
	r, err := run(ctx, p, func(load.Interval) {})
	if err != nil {
		return nil, err
	}
	after, err := count(ctx)
	if err != nil {
		return nil, err
	}
	if after.Own {
		after.Served--
	}
	t.Served = &Served{after.Served - before.Served, r.Requests.Sent + r.Requests.Warmup}
	return r, nil
}

// miscounted reports whether server and clients do not say the same of a load. A server need not
// have seen what failed and what nobody waited for any more, and may have seen twice what was
// sent again.
func (s *Served) miscounted(q result.Requests) bool {
	more := s.Server - s.Clients
	return more > q.Retried || -more > q.Errors+q.Unfinished+q.WarmupLost
}

// accounts looks for a load of which server and clients do not say the same.
func accounts(t *Trial) []Reason {
	s := t.Served
	if s == nil || t.Result == nil || !s.miscounted(t.Result.Requests) {
		return nil
	}
	return []Reason{{Grade: GradeF, Says: fmt.Sprintf("the server counted %d requests, and the "+
		"clients sent %d together", s.Server, s.Clients)}}
}

// miscounts says of each arm in how many trials its server counted otherwise than the clients
// did, and of the first of them what.
func miscounts(trials []*Trial) (all []string) {
	var arms []string
	off, counted, first := map[string]int{}, map[string]int{}, map[string]string{}
	for _, t := range trials {
		if t.Served == nil {
			continue
		}
		counted[t.Arm]++
		for _, why := range accounts(t) {
			if off[t.Arm]++; off[t.Arm] == 1 {
				arms = append(arms, t.Arm)
				first[t.Arm] = why.Says
			}
		}
	}
	for _, arm := range arms {
		all = append(all, fmt.Sprintf("%s: in %d of %d trials %s", arm, off[arm], counted[arm],
			first[arm]))
	}
	return all
}

// Agreement is what servers and clients counted of all loads of an experiment of which both are
// known.
type Agreement struct {
	Trials  int   `json:"trials"`
	Alike   int   `json:"alike"` // of them: to the request
	Off     int   `json:"off"`   // and by more than what failed or was sent again
	Server  int64 `json:"server"`
	Clients int64 `json:"clients"`
}

// agreement is that of trials; nil if no server told its count.
func agreement(trials []*Trial) *Agreement {
	var a Agreement
	for _, t := range trials {
		if t.Served == nil {
			continue
		}
		a.Trials++
		switch {
		case t.Served.Server == t.Served.Clients:
			a.Alike++
		case len(accounts(t)) > 0:
			a.Off++
		}
		a.Server += t.Served.Server
		a.Clients += t.Served.Clients
	}
	if a.Trials == 0 {
		return nil
	}
	return &a
}
