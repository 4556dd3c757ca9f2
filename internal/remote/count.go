package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"dyno/internal/lazyregexp"
)

// A Count is how many requests a server has answered, by its own count.
type Count struct {
	Served int64 `json:"served"`
	Own    bool  `json:"own,omitempty"` // the query itself is counted, and so are all before it
}

// A Counter queries a server's count.
type Counter func(context.Context) (Count, error)

const (
	countWait = 10 * time.Second // for the server's answer
	countMost = 64 << 10         // bytes of the answer that are read
)

// FetchCount queries the count that a server reports at a URL. It uses a connection of its own,
// which does not stay open among those of the load.
func FetchCount(ctx context.Context, url string) (c Count, err error) {
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
	return parseCount(b)
}

// stubStatus matches the output of nginx's module of that name: connections accepted and handled,
// and requests.
var stubStatus = lazyregexp.New(`server accepts handled requests\s+\d+ \d+ (\d+)\s`)

// parseCount parses {"served": N}, which does not include queries like this one, or nginx's
// stub_status, which does.
func parseCount(b []byte) (Count, error) {
	if found := stubStatus().FindSubmatch(b); found != nil {
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

// NewCounter returns a Counter for a server that this process can reach; nil without a URL.
func NewCounter(url string) Counter {
	if url == "" {
		return nil
	}
	return func(ctx context.Context) (Count, error) { return FetchCount(ctx, url) }
}
