package serve

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/result"
)

// A fleet's results are shown beside any machine's, and are no machine to choose.
func TestHistoryOfFleets(t *testing.T) {
	s := &Server{Config: Config{Home: t.TempDir()}}
	for i, names := range [][]string{nil, {"a", "b"}} {
		p := loadplan.DefaultPlan()
		p.Target = loadplan.Target{URL: "http://127.0.0.1/", Host: "127.0.0.1", Port: 80}
		r, err := result.From(&loadresult.Result{Plan: p, Started: time.Unix(int64(1e9+i), 0), Ended: loadresult.ByDuration,
			Measured: time.Second, Total: metric.NewCounters()}, "test")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if r.Fleet == nil {
				r.Fleet = &result.Fleet{}
			}
			r.Fleet.Agents = append(r.Fleet.Agents, result.Agent{Name: name, Weight: 1, Host: r.Host})
		}
		if _, err := dynohome.Save(s.Home, r); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string][]string{"": {"a fleet", "this one"}, "?machine=all": {"a fleet", "this one"}, "?machine=none": {"a fleet"}} {
		w := httptest.NewRecorder()
		s.serveHistory(w, httptest.NewRequest("GET", "/api/history"+query, nil))
		var p struct {
			Machines []machine
			Series   []struct{ Machine string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Fatalf("%v: %s", err, w.Body)
		}
		if len(p.Machines) != 1 || p.Machines[0].Results != 1 {
			t.Errorf("%q: to choose from are %+v", query, p.Machines)
		}
		if len(p.Series) != len(want) || p.Series[0].Machine != want[0] || len(want) == 2 && p.Series[1].Machine == want[0] {
			t.Errorf("%q: %+v", query, p.Series)
		}
	}
}
