package load

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"dyno/internal/engine/metric"
	"dyno/internal/engine/ring"
)

// stallLeft is how long a server still answers nothing that answers nothing from second 5 to 6 of
// each 10, so many ns after its start.
func stallLeft(at int64) int64 {
	if at %= 10 * s; at >= 5*s && at < 6*s {
		return 6*s - at
	}
	return 0
}

// simulatedShop is a ring in virtual time on which x answers at once, but for the stalls.
func simulatedShop(t testing.TB, x *shop) *ring.Sim {
	return &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(b)))
		if err != nil {
			t.Fatal(err)
		}
		said := httptest.NewRecorder()
		x.ServeHTTP(said, r)
		response := said.Result()
		response.ContentLength = int64(said.Body.Len())
		var out bytes.Buffer
		if err := response.Write(&out); err != nil {
			t.Fatal(err)
		}
		p.Reply(stallLeft(p.Now()), out.Bytes())
	}}
}

// stallingPlan is 500 iterations/s of the shop's users for 20 s.
func stallingPlan(authority string) Plan {
	p := shopPlan(simPlan(nil), authority)
	p.Rate, p.Duration = RatePerSecond(500), Seconds(20*s)
	p.Connections, p.Users, p.Threads = 600, 1000, 1
	return p
}

// runStalling loads a real server that stalls as the simulated one does, from the run's start on.
func runStalling(b *testing.B) *Result {
	x, start := newShop(), time.Time{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Duration(stallLeft(int64(time.Since(start)))))
		x.ServeHTTP(w, r)
	}))
	defer server.Close()
	at := server.Listener.Addr().(*net.TCPAddr).AddrPort()
	p := stallingPlan(at.String())
	p.Target = Target{URL: server.URL, Host: at.Addr().String(), Port: at.Port()}
	start = time.Now()
	r, err := Run(b.Context(), p, nil)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// BenchmarkStalls is 500 iterations/s of login, list and buy, open, against a server that answers
// nothing for 1 s in 10: real, beside the same in virtual time with a server that takes no time
// otherwise. Its figure is by how much percentiles differ at most; with -v the percentiles are logged.
func BenchmarkStalls(b *testing.B) {
	for range b.N {
		p := stallingPlan("sim")
		simulated := simulate(b, p, simulatedShop(b, newShop()))
		real := runStalling(b)
		got, want := real.Scenario, simulated.Scenario
		b.Logf("iterations: %d started, %d completed, %d failed, %d unfinished; simulated %d, %d, %d, %d", got.Started,
			got.Completed, got.Failed, got.Unfinished, want.Started, want.Completed, want.Failed, want.Unfinished)
		most := logQuantiles(b, "iterations", got.Time, want.Time)
		for i, step := range p.Steps {
			most = max(most, logQuantiles(b, step, real.Routes[i].Latency, simulated.Routes[i].Latency))
		}
		b.ReportMetric(most, "ms-apart")
	}
}

// logQuantiles logs percentiles of both in ms, and returns by how much they differ at most.
func logQuantiles(b *testing.B, of string, got, want *metric.Histogram) (most float64) {
	for _, q := range []float64{0.5, 0.85, 0.92, 0.95, 0.97, 0.99, 0.999} {
		x, y := float64(quantile(got, q))/float64(ms), float64(quantile(want, q))/float64(ms)
		b.Logf("%-10s p%-5v %7.1f ms, simulated %7.1f", of, q*100, x, y)
		most = max(most, x-y, y-x)
	}
	return most
}
