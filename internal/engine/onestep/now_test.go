package onestep

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/ring"
)

// What a hole says is now is when its request was due, and not when it was sent: at a constant rate
// the texts differ by one interval, though the first answer comes after all requests were due.
func TestNow(t *testing.T) {
	const n, interval = 20, 10 * time.Millisecond
	var mu sync.Mutex
	var texts []time.Time // of one connection: one after the other
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, err := time.Parse(time.RFC3339Nano, r.URL.Query().Get("t"))
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if texts = append(texts, at); len(texts) == 1 {
			time.Sleep(n * interval)
		}
	}))
	defer s.Close()
	asked := request(t, nil, "/?t={{now}}", "", "")
	m := maker(t, Config{Requests: []Request{asked}})
	p := plan(s, m, asked, n)
	p.Users, p.Rate = 1, loadplan.RatePerSecond(float64(time.Second/interval))
	began := ring.Clock()
	r, err := load.Run(t.Context(), p, nil)
	ended := ring.Clock()
	if err != nil || r.Total.Completed != n {
		t.Fatal(r, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(texts) != n || texts[0].Before(ring.TimeAt(began).Truncate(time.Microsecond)) ||
		texts[0].After(ring.TimeAt(ended)) {
		t.Fatalf("%d texts, the first %v; the load was from %v to %v", len(texts), texts[0], ring.TimeAt(began),
			ring.TimeAt(ended))
	}
	for i := range texts {
		if got := texts[i].Sub(texts[0]); got != time.Duration(i)*interval {
			t.Errorf("text %d is %v after the first, want %v", i+1, got, time.Duration(i)*interval)
		}
	}
}
