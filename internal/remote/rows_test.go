package remote

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"dyno/internal/engine/data"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/requests"
	"dyno/internal/engine/template"
)

// Three worker processes' parts of a load send each of 1,000 rows once, and check the answers.
func TestRowsOfWorkers(t *testing.T) {
	const rows = 1000
	var mu sync.Mutex
	seen := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.URL.Query().Get("id")
		mu.Lock()
		seen[id]++
		mu.Unlock()
		fmt.Fprint(w, "answer ", id)
	}))
	defer s.Close()
	var file strings.Builder
	file.WriteString("id\n")
	for i := range rows {
		fmt.Fprintln(&file, i)
	}
	table, err := data.Read("ids.csv", strings.NewReader(file.String()), data.MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	u, err := requests.Parse(s.URL + "/?id={{id}}")
	if err != nil {
		t.Fatal(err)
	}
	p := planOf(t, s.URL)
	d := requests.Defaults{URL: u, Names: &template.Names{Columns: table.Columns()}}
	if p.Requests, err = requests.Pair(d, []requests.URL{u}, [][]byte{nil}); err != nil {
		t.Fatal(err)
	}
	p.Rows = &loadplan.Rows{File: "ids.csv", Rows: rows, Order: "once"}
	p.Expectations.Body = []string{"regex:answer [0-9]*[0-8]$"}
	p.Connections, p.Requested, p.Duration, p.Drain = 7, rows, 0, loadplan.Seconds(time.Minute)
	if err := onestep.SetScenario(&p, table); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	var failed int64
	for _, part := range p.Split(3) {
		b, err := loadplan.Pack(part)
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			said := talk(t, task{Plan: b}, func(message) bool { return false })
			if last := said[len(said)-1]; last.Result == nil {
				t.Errorf("%+v", last)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, w := range said {
				if w.Interval != nil {
					failed += w.Interval.Checks[0].Failed
				}
			}
		})
	}
	wait.Wait()
	for i := range rows {
		if n := seen[fmt.Sprint(i)]; n != 1 {
			t.Errorf("row %d was sent %d times", i+1, n)
		}
	}
	if failed != rows/10 {
		t.Errorf("%d answers did not pass, want %d", failed, rows/10)
	}
}
