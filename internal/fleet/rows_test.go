package fleet

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"dyno/internal/engine/data"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/requests"
	"dyno/internal/engine/template"
	"dyno/internal/fleet/policy"
)

// loginPlan has agents log each row of a CSV in once. Its server answers wrongly to each 200th
// row, and counts the rows.
func loginPlan(t *testing.T, w *world, rows int) (p loadplan.Plan, seen func() []int) {
	var mu sync.Mutex
	all := make([]int, rows)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		var n int
		if _, err := fmt.Sscanf(string(body), `{"user": "u%d"}`, &n); err != nil || n >= rows || user != "" ||
			password != "" || r.Header.Get("X-Token") != fmt.Sprint("t", n) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		mu.Lock()
		all[n]++
		mu.Unlock()
		if n%200 == 0 {
			io.WriteString(w, `{"ok": false}`)
			return
		}
		io.WriteString(w, `{"ok": true}`)
	}))
	t.Cleanup(s.Close)
	var file strings.Builder
	file.WriteString("name,token\n")
	for i := range rows {
		fmt.Fprintf(&file, "u%d,t%d\n", i, i)
	}
	table, err := data.Read("logins.csv", strings.NewReader(file.String()), data.MaxFleetBytes)
	if err != nil {
		t.Fatal(err)
	}
	to, err := requests.Parse(s.URL + "/login")
	if err != nil {
		t.Fatal(err)
	}
	d := requests.Defaults{URL: to, Names: &template.Names{Columns: table.Columns()},
		Header: []proto.Field{{Name: "X-Token", Value: "{{token}}"}}}
	p = w.newPlan(0, 0, 9)
	p.Target = to.Target
	if p.Requests, err = requests.Pair(d, []requests.URL{to}, [][]byte{[]byte(`{"user": "{{name}}"}`)}); err != nil {
		t.Fatal(err)
	}
	p.Rows = &loadplan.Rows{File: "logins.csv", Rows: rows, Order: "once"}
	p.Expectations.Body = []string{"json:$.ok==true"}
	p.Requested, p.Seed = int64(rows), 7
	if err := onestep.SetScenario(&p, table); err != nil {
		t.Fatal(err)
	}
	return p, func() []int {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// Three agents with weights 2:1:1 log each of 2,000 users in exactly once, closed and by a rate,
// and count each wrong body.
func TestRowsOfAFleet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, weight := range map[string]int{"a": 2, "b": 1, "c": 1} {
		w.startAgent(name, weight)
	}
	for _, rate := range []float64{0, 4000} {
		const rows = 2000
		p, seen := loginPlan(t, w, rows)
		p.Rate = loadplan.RatePerSecond(rate)
		r := w.mustRun(w.newController(), p)
		for i, n := range seen() {
			if n != 1 {
				t.Errorf("rate %v: row %d was sent %d times", rate, i+1, n)
			}
		}
		c := r.Checks
		if len(c) != 1 || c[0].Failed != 10 || c[0].Passed != rows-10 || r.Requests.Errors != 10 ||
			r.Requests.Completed != rows-10 || !r.Fleet.AddsUp {
			t.Errorf("rate %v: %+v, %+v, %+v", rate, c, r.Requests, r.Fleet)
		}
		if len(r.Errors) != 1 || r.Errors[0].Kind != "json:$.ok==true" || r.Errors[0].Count != 10 {
			t.Errorf("rate %v: %+v", rate, r.Errors)
		}
		var sent []int64
		for _, a := range r.Fleet.Agents {
			sent = append(sent, a.Requests.Sent)
		}
		if rate > 0 && !slices.Equal(sent, []int64{1000, 500, 500}) {
			t.Errorf("sent %v of %d, want half and twice a quarter", sent, rows)
		}
		if q := r.Plan; q.Rows == nil || q.Rows.Order != "once" || q.Users != 9 || q.Rows.Content != nil {
			t.Errorf("the plan is %+v", q)
		}
	}
}

// A value that cannot be sent is counted by every agent, and makes none of them a liar.
func TestRefusedValuesOfAFleet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1)
	w.startAgent("b", 1)
	p, _ := loginPlan(t, w, 100)
	table, err := data.Read("d.csv", strings.NewReader("name,token\nu1,t1\nu2,\"t\n2\"\n"), data.MaxFleetBytes)
	if err != nil {
		t.Fatal(err)
	}
	p.Rows = &loadplan.Rows{File: "d.csv", Rows: 2, Order: "in-order"}
	if err := onestep.SetScenario(&p, table); err != nil {
		t.Fatal(err)
	}
	r := w.mustRun(w.newController(), p)
	if r.Requests.Sent != 50 || r.Requests.Completed != 50 || len(r.Errors) != 1 ||
		r.Errors[0].Kind != "value" || r.Errors[0].Count != 50 || len(r.Fleet.Lost()) > 0 {
		t.Errorf("%+v, %+v, %+v", r.Requests, r.Errors, r.Fleet)
	}
}

// What an agent's owner allows holds for requests with holes, too: the agent refuses them by name.
func TestPolicyOfRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1, func(a *Agent) {
		a.Policy = policy.Default()
		a.Policy.MaxRate = 249
	})
	p, seen := loginPlan(t, w, 100)
	_, err := w.tryRun(t.Context(), w.newController(), p, nil)
	if err == nil || !strings.Contains(err.Error(), "a refuses: its policy allows 249 requests a second") {
		t.Error(err)
	}
	if n := slices.Max(seen()); n > 0 {
		t.Errorf("a row was sent %d times", n)
	}
}
