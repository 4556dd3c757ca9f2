package onestep

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
)

// What a hole says is now is when its request was due.
func TestNow(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, err := time.Parse(time.RFC3339Nano, r.URL.Query().Get("t"))
		if d := time.Since(at); err != nil || d < 0 || d > time.Hour {
			t.Errorf("%v %v", r.URL, d)
		}
	}))
	defer s.Close()
	asked := request(t, nil, "/?t={{now}}", "", "")
	m := maker(t, Config{Requests: []Request{asked}})
	at := s.Listener.Addr().(*net.TCPAddr).AddrPort()
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: s.URL, Host: at.Addr().String(), Port: at.Port()}
	p.Requests = []loadplan.Request{{Request: asked.Request, Name: "once", Weight: 1}}
	p.Scenario, p.Steps, p.Checks = m, []string{"once"}, m.CheckNames()
	p.Threads, p.Connections, p.Requested, p.Seed = 1, 1, 20, 1
	p.Duration, p.Drain = 0, loadplan.Seconds(time.Minute)
	r, err := load.Run(t.Context(), p, nil)
	if err != nil || r.Total.Completed != 20 {
		t.Fatal(r, err)
	}
}
