package served

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A log says when events were due, sent and apart from one another, whatever the order of its lines.
func TestTimesOfALog(t *testing.T) {
	const ms = 1_000_000
	l, err := Read(strings.NewReader("2,13000000,1,19000000\n1,10000000,1,12000000\n" +
		"2,13000000,2,19000000\n1,10000000,2,17000000\n2,13000000,3,29000000\n"))
	if err != nil {
		t.Fatal(err)
	}
	due, err := l.Due([]int64{5 * ms, 7 * ms})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want Times
	}{{"from due", due, Times{2, 7}}, // request 1 came when it was due, and 2 one ms later
		{"from sending", l.Sent(), Times{2, 6}}, {"gaps", l.Gaps(), Times{5, 10}}} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if _, err := l.Due([]int64{0}); err == nil {
		t.Error("stream 2 of one request is no error")
	}
	for text, part := range map[string]string{"1,2,1": "line 1", "1,2,1,3\n1,2,3,4\n": "line 2",
		"1,2,1,3\n1,2,x,4\n": "line 2", "1,2,1,3\n1,2,2\n": "line 2"} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v, want an error of %s", text, err, part)
		}
	}
}

func TestPercentiles(t *testing.T) {
	var all Times
	for i := range 200 {
		all = append(all, float64(i+1))
	}
	for percent, want := range map[float64]float64{0: 1, 50: 100, 99: 198, 100: 200} {
		if got := all.At(percent); got != want {
			t.Errorf("p%v is %v, want %v", percent, got, want)
		}
	}
	if got := (Times{}).At(50); !math.IsNaN(got) {
		t.Errorf("p50 of nothing is %v", got)
	}
}

// The server logs each event that it writes, no stream has a slot before another has left it, and
// the log can be read again.
func TestServerKeepsItsLaw(t *testing.T) {
	h := &handler{Server: Server{Law: Law{Slots: 1, First: time.Millisecond, Least: time.Millisecond,
		Events: 3}, OpenAI: true}, slots: make(chan struct{}, 1)}
	server := httptest.NewServer(h)
	defer server.Close()
	var all sync.WaitGroup
	for _, path := range []string{"/?n=7", "/v1/chat/completions?n=8", "/v1/models"} {
		all.Go(func() {
			r, err := http.Get(server.URL + path)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Body.Close()
			text, err := io.ReadAll(r.Body)
			want := 3
			if path == "/v1/models" {
				want = 0
			}
			if n := strings.Count(string(text), `" word"},`); err != nil || n != want {
				t.Errorf("%s: %d events, want %d: %v\n%s", path, n, want, err, text)
			}
		})
	}
	all.Wait()
	var file strings.Builder
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.log.Write(&file); err != nil {
		t.Fatal(err)
	}
	l, err := Read(strings.NewReader(file.String()))
	if err != nil || len(l) != 2 || l[0].Number+l[1].Number != 15 || len(l.Gaps()) != 4 {
		t.Fatalf("%+v, %v", l, err)
	}
	a, b := l[0], l[1]
	if a.Events[0] > b.Events[0] {
		a, b = b, a
	}
	due := func(i int) time.Duration { return time.Duration(a.Events[i] - a.Late[i]) }
	if b.Events[0] < a.Events[2] || due(2)-due(1) != time.Millisecond {
		t.Errorf("the law is not kept: %+v", l)
	}
}
