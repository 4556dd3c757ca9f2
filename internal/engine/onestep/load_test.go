package onestep

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"dyno/internal/engine/data"
	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
)

// A server counts what it is sent, and answers with a wrong body now and then.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	emails map[string]int
	seqs   map[string]int
	wrong  int64
}

func newServer(t *testing.T) *server {
	s := &server{emails: map[string]int{}, seqs: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.emails[r.URL.Query().Get("e")+" "+string(body)]++
		s.seqs[r.Header.Get("X-Test")]++
		wrong := len(s.seqs)%10 == 0
		if wrong {
			s.wrong++
		}
		s.mu.Unlock()
		w.Header().Set("X-Id", "7")
		if wrong {
			_, _ = io.WriteString(w, `{"ok": false}`)
			return
		}
		_, _ = io.WriteString(w, `{"ok": true}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// plan is a plan for n of a request, on one connection.
func plan(s *httptest.Server, m *Maker, r Request, n int64) loadplan.Plan {
	at := s.Listener.Addr().(*net.TCPAddr).AddrPort()
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: s.URL, Host: at.Addr().String(), Port: at.Port()}
	p.Requests = []loadplan.Request{{Request: r.Request, Name: "once", Weight: 1}}
	p.Scenario, p.Checks = m, m.CheckNames()
	p.Threads, p.Connections, p.Requested, p.Seed = 1, 1, n, 1
	p.Duration, p.Drain, p.Timeout = 0, loadplan.Seconds(time.Minute), loadplan.Seconds(time.Minute)
	return p
}

// Each row is sent exactly once, on 1 to 3 threads with odd numbers of connections and by three
// parts with weights 2:1:1, and each wrong answer is counted.
func TestOnceThroughLoad(t *testing.T) {
	const n = 500
	d := rows(t, n)
	for _, tc := range []struct {
		name                 string
		threads, connections int
		weights              []int
	}{
		{"1 thread", 1, 7, []int{1}}, {"2 threads", 2, 5, []int{1}}, {"3 threads", 3, 11, []int{1}},
		{"3 parts", 4, 9, []int{2, 1, 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newServer(t)
			r := request(t, d, "/?e={{email}}", "{{seq}}", "{{token}}{{secret}}")
			r.Checks = []int{0, 1}
			m := maker(t, Config{Data: d, Order: data.Once, Requests: []Request{r},
				Checks: checks(t, "json:$.ok==true")})
			p := plan(s.Server, m, r, n)
			p.Threads, p.Connections = tc.threads, tc.connections
			passed, failed, errors := runParts(t, p.SplitBy(tc.weights))
			want, seqs := map[string]int{}, map[string]int{}
			for i := range n {
				want[fmt.Sprintf("u%d@example.org t%[1]ds%[1]d", i)] = 1
				seqs[fmt.Sprint(i+1)] = 1
			}
			if !maps.Equal(s.emails, want) || !maps.Equal(s.seqs, seqs) {
				t.Errorf("%d different rows and %d numbers, want %d", len(s.emails), len(s.seqs), n)
			}
			if s.wrong == 0 || failed != s.wrong || passed != n-s.wrong || errors != s.wrong {
				t.Errorf("%d passed and %d failed, %d errors; %d answers were wrong", passed, failed, errors, s.wrong)
			}
		})
	}
}

// runParts runs the parts at once, and adds the outcomes of the first check and the errors.
func runParts(t *testing.T, parts []loadplan.Plan) (passed, failed, errors int64) {
	results := make([]*loadresult.Result, len(parts))
	var wait sync.WaitGroup
	for i, p := range parts {
		wait.Go(func() {
			r, err := load.Run(context.Background(), p, func(loadresult.Interval) {})
			if err != nil {
				t.Error(err)
			}
			results[i] = r
		})
	}
	if wait.Wait(); t.Failed() {
		t.FailNow()
	}
	for _, r := range results {
		passed += r.Scenario.Checks[0].Passed
		failed += r.Scenario.Checks[0].Failed
		errors += r.Total.Failed
	}
	return passed, failed, errors
}

// A load with a warm-up cannot have each row once, and says so before it begins.
func TestOnceWithAWarmup(t *testing.T) {
	d := rows(t, 5)
	r := request(t, d, "/?e={{email}}", "", "")
	m := maker(t, Config{Data: d, Order: data.Once, Requests: []Request{r}})
	s := newServer(t)
	p := plan(s.Server, m, r, 5)
	p.Warmup = loadplan.Seconds(time.Second)
	if _, err := load.Run(t.Context(), p, nil); err == nil || fmt.Sprint(err, fact.RemediesOf(err)) != "making the scenario of "+
		"thread 1: rows once: a warm-up would need rows, and each is for a request of the window [{warmup none}]" {
		t.Error(err)
	}
	if len(s.emails) > 0 {
		t.Errorf("%v were sent", s.emails)
	}
}
