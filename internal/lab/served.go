package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/result"
)

// A Count is how many requests a server says it has answered.
type Count struct {
	Served int64 `json:"served"`
	Own    bool  `json:"own,omitempty"` // the question is one of them, as are all before it
}

// A Counter asks a server for its count.
type Counter func(context.Context) (Count, error)

const (
	countWait = 10 * time.Second // for a server to tell its count
	countMost = 64 << 10         // bytes of it that are read

	settleTime = 50 * time.Millisecond // between two questions before a load
	settleMost = 20                    // until it begins although something is still counted
)

// askCount asks for the count that a server tells at a URL, on a connection of its own: none of
// ours is to stay among those of the load.
func askCount(ctx context.Context, url string) (c Count, err error) {
	limited, stop := context.WithTimeout(ctx, countWait)
	defer stop()
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = ctx.Err()
		} else if err != nil {
			err = fmt.Errorf("asking the server at %s how many requests it has answered: %w", url, err)
		}
	}()
	request, err := http.NewRequestWithContext(limited, http.MethodGet, url, nil)
	if err != nil {
		return c, err
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return c, err
	}
	defer response.Body.Close()
	b, err := io.ReadAll(io.LimitReader(response.Body, countMost))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("it says %s", response.Status)
	}
	if err != nil {
		return c, err
	}
	return readCount(b)
}

// stubStatus is what nginx's module of that name says: connections accepted, handled, and requests.
var stubStatus = regexp.MustCompile(`server accepts handled requests\s+\d+ \d+ (\d+)\s`)

// readCount reads {"served": N}, of which questions like this one are no part, or nginx's
// stub_status, of which they are.
func readCount(b []byte) (Count, error) {
	if found := stubStatus.FindSubmatch(b); found != nil {
		n, err := strconv.ParseInt(string(found[1]), 10, 64)
		return Count{n, true}, err
	}
	var told struct {
		Served *int64 `json:"served"`
	}
	if json.Unmarshal(b, &told) != nil || told.Served == nil || *told.Served < 0 {
		return Count{}, errors.New(`it says neither {"served": N} nor what nginx's stub_status does`)
	}
	return Count{Served: *told.Served}, nil
}

// counter asks for the count of a server that this process reaches; nil without a URL.
func counter(url string) Counter {
	if url == "" {
		return nil
	}
	return func(ctx context.Context) (Count, error) { return askCount(ctx, url) }
}

// settled asks until a question is all that was counted since the last: what was sent before this
// load, and given up, may still have waited to be read.
func settled(ctx context.Context, count Counter) (Count, error) {
	last, err := count(ctx)
	for range settleMost {
		if err != nil {
			return last, err
		}
		sleep(ctx, settleTime)
		var next Count
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
func (t *Trial) counted(ctx context.Context, count Counter, p load.Plan, run Runner) (
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
