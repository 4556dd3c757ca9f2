package remote

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/requests"
	"dyno/internal/fairness"
)

// planOf loads a server that the test has.
func planOf(t *testing.T, url string) loadplan.Plan {
	t.Helper()
	u, err := requests.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	p := loadplan.DefaultPlan()
	p.Target, p.Connections, p.Threads = u.Target, 2, 1
	if p.Requests, err = requests.Pair(requests.Defaults{URL: u}, []requests.URL{u}, [][]byte{nil}); err != nil {
		t.Fatal(err)
	}
	return p
}

// talk has Work do a task. It says when to begin as soon as it is asked, and goes
// away when it has heard enough.
func talk(t *testing.T, first any, enough func(message) bool) (said []message) {
	t.Helper()
	in, tell := io.Pipe()
	hear, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- RunWorker(t.Context(), in, out)
		out.Close()
	}()
	tasks := json.NewEncoder(tell)
	if err := tasks.Encode(first); err != nil {
		t.Fatal(err)
	}
	for words := json.NewDecoder(hear); ; {
		var w message
		if words.Decode(&w) != nil {
			break
		}
		if said = append(said, w); w.Ready {
			at := time.Now()
			tasks.Encode(task{Begin: &at})
		}
		if enough(w) {
			tell.Close()
		}
	}
	tell.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return said
}

func TestWork(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", "Thu, 01 Jan 1970 00:00:00 GMT") // two answers have the same
		io.WriteString(w, r.URL.Path)
	}))
	defer s.Close()
	never := func(message) bool { return false }
	taskOf := func(p loadplan.Plan) task {
		b, err := loadplan.Pack(p)
		if err != nil {
			t.Fatal(err)
		}
		return task{Plan: b}
	}
	p := planOf(t, s.URL+"/a")
	p.Requested, p.Duration = 500, 0
	said := talk(t, taskOf(p), never)
	completed := func() (n int64) {
		for _, w := range said {
			if w.Interval != nil {
				n += w.Interval.Completed
			}
		}
		return n
	}
	if last := said[len(said)-1].Result; !said[0].Ready || last == nil || completed() != 500 || last.Opened != 2 {
		t.Errorf("%+v", said)
	}
	p.Requested, p.Duration = 0, loadplan.Seconds(time.Hour)
	said = talk(t, taskOf(p), func(w message) bool { return w.Interval != nil })
	if last := said[len(said)-1].Result; last == nil || last.Ended != "interrupted" ||
		completed() == 0 || last.Measured <= 0 || last.FirstByte.Count == 0 {
		t.Errorf("left alone after a second: %+v", last)
	}
	said = talk(t, taskOf(p), func(w message) bool { return w.Ready })
	if last := said[len(said)-1].Result; last == nil || last.Ended != "interrupted" {
		t.Errorf("left alone at the barrier: %+v", last)
	}
	asked := planOf(t, s.URL+"/b")
	q := fairness.Question{Way: asked.Way(), Request: asked.Requests[0].Request, Times: 2, Brief: true}
	said = talk(t, task{Ask: &q}, never)
	there, err := fairness.Ask(t.Context(), q)
	if err != nil || len(said) != 1 || len(fairness.Differences(there, said[0].Answer)) > 0 ||
		!reflect.DeepEqual(there.Header, said[0].Answer.Header) {
		t.Errorf("%+v, asked from here %+v %v", said, there, err)
	}
	p.Connections = 0
	for want, first := range map[string]any{"Connections: 0": taskOf(p), "nothing that it can": task{},
		"reading the plan": task{Plan: []byte(`"x"`)}} {
		if said = talk(t, first, never); len(said) != 1 || !strings.Contains(said[0].Error, want) {
			t.Errorf("%+v, want %s", said, want)
		}
	}
	if err := RunWorker(t.Context(), strings.NewReader("nonsense"), io.Discard); err == nil {
		t.Error("nobody said what to do, and it was done")
	}
}

// Three clients of an experiment are one generator: each second and each route has the percentiles of
// what all of them counted.
func TestPercentilesOfClients(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/b" { // some wait much longer than others
			time.Sleep(time.Duration(rand.N(20)) * time.Millisecond)
		}
	}))
	defer s.Close()
	p := planOf(t, s.URL+"/a")
	other := p.Requests[0]
	other.Path, other.Name = "/b", "GET /b"
	p.Requests = append(p.Requests, other)
	p.Connections, p.Threads = 6, 3
	p.Rate, p.Duration, p.Drain = loadplan.RatePerSecond(300), loadplan.Seconds(3*time.Second), loadplan.Seconds(time.Minute)
	parts := p.Split(3)
	seconds, routes := map[int]*metric.Histogram{}, map[string]*metric.Histogram{}
	r, err := sumOf(parts, nil, func(tell func(int, *loadresult.Interval)) ([]message, error) {
		said := make([][]message, len(parts))
		var all sync.WaitGroup
		for i, part := range parts {
			b, err := loadplan.Pack(part)
			if err != nil {
				return nil, err
			}
			all.Go(func() { said[i] = talk(t, task{Plan: b}, func(message) bool { return false }) })
		}
		all.Wait()
		var last []message
		for i := range said {
			for _, w := range said[i] {
				if w.Interval == nil {
					continue
				}
				if seconds[w.Interval.Index] == nil {
					seconds[w.Interval.Index] = metric.NewHistogram(metric.Fine)
				}
				seconds[w.Interval.Index].MergeSparse(w.Interval.Latency)
				tell(i, w.Interval)
			}
			tell(i, nil)
			last = append(last, said[i][len(said[i])-1])
			for _, x := range last[i].Result.Routes {
				if routes[x.Name] == nil {
					routes[x.Name] = metric.NewHistogram(metric.Coarse)
				}
				routes[x.Name].Merge(x.Latency)
			}
		}
		return last, nil
	})
	if err != nil || len(r.Series) < 3 || len(r.Routes) != 2 || r.Requests.Completed != 900 {
		t.Fatalf("%v: %+v", err, r)
	}
	us := func(h *metric.Histogram, q float64) float64 { return float64(h.View().Quantile(q)) / 1e3 }
	for i, x := range r.Series {
		h := seconds[i]
		if x.Completed != h.Count || x.Completed > 0 && (x.P50 != us(h, 0.5) || x.P99 != us(h, 0.99)) || i < 3 && len(x.ByPart) != 3 {
			t.Errorf("second %d: %+v, want p50 %v and p99 %v of %d", i, x, us(h, 0.5), us(h, 0.99), h.Count)
		}
	}
	for _, x := range r.Routes {
		if h := routes[x.Name]; x.Completed != 450 || h.Count != 450 || x.P50 != us(h, 0.5) || x.P90 != us(h, 0.9) || x.P99 != us(h, 0.99) {
			t.Errorf("%+v, want p50 %v, p90 %v and p99 %v of %d", x, us(h, 0.5), us(h, 0.9), us(h, 0.99), h.Count)
		}
	}
}
