package page_test

import (
	"bytes"
	"encoding/csv"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/result"
	"dyno/internal/view/chart"
	"dyno/internal/view/format"
	"dyno/internal/view/page"
	"dyno/internal/view/payload"
	"dyno/internal/view/report"
)

// threeParts is what three generators counted together, and the histograms of each second and of each
// route of all of them.
func threeParts(t *testing.T) (r *result.Result, seconds []*metric.Histogram, routes map[string]*metric.Histogram) {
	t.Helper()
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://127.0.0.1/", Host: "127.0.0.1", Port: 80}
	p.Requests = []loadplan.Request{{Name: "GET /a", Weight: 1}, {Name: "GET /b", Weight: 1}}
	p.Connections, p.Threads, p.Warmup, p.Duration = 6, 3, 0, loadplan.Seconds(3*time.Second)
	coin := rand.New(rand.NewPCG(1, 2))
	routes = map[string]*metric.Histogram{"GET /a": metric.NewHistogram(metric.Coarse), "GET /b": metric.NewHistogram(metric.Coarse)}
	for range 3 {
		seconds = append(seconds, metric.NewHistogram(metric.Fine))
	}
	sum := loadresult.NewTogether(3, nil)
	var last []*loadresult.Result
	for _, part := range p.Split(3) {
		x := &loadresult.Result{Plan: part, Ended: loadresult.ByDuration, Measured: 3 * time.Second, Totals: loadresult.NewTotals()}
		x.Routes, _ = loadresult.NewRoutes(&part)
		x.Opened, x.Served, x.Protocols = 2, 2, map[string]int64{loadplan.HTTP11: 2}
		for i, all := range seconds {
			h := metric.NewHistogram(metric.Fine)
			for k := range 1000 + 300*part.Part {
				v := int64(coin.ExpFloat64() * 1e6 * float64(part.Part+1) * float64(k%2*5+1))
				h.Record(v)
				all.Record(v)
				route := &x.Routes[k%2]
				route.Latency.Record(v)
				routes[route.Name].Record(v)
				route.Completed++
			}
			iv := loadresult.Interval{Index: i, From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second,
				Sent: h.Count, Completed: h.Count, Latency: h.ToSparse(), Status: map[uint16]int64{200: h.Count}}
			iv.Measure()
			sum.Add(part.Part, iv)
		}
		last = append(last, x)
	}
	sum.Close()
	whole, err := sum.Join(last)
	if err == nil {
		r, err = result.From(whole, loadplan.Version)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r, seconds, routes
}

// Of several generators, clients of an experiment or agents of a fleet, report and page show each second
// and each route with the percentiles of all that they counted.
func TestPercentilesOfSeveralGenerators(t *testing.T) {
	us := func(h *metric.Histogram, q float64) float64 { return float64(h.View().Quantile(q)) / 1e3 }
	for _, fleet := range []bool{false, true} {
		r, seconds, routes := threeParts(t)
		if fleet {
			r.SetFleet(&result.Fleet{Run: "r", Agents: []result.Agent{{Name: "a"}, {Name: "b"}, {Name: "c"}}})
		}
		data := dataOf(t, func(w io.Writer) error { return page.Run(w, r) })
		for i, h := range seconds {
			if p50, p99 := at(data, "result", "series", i, "p50_us"), at(data, "result", "series", i, "p99_us"); p50 != us(h, 0.5) || p99 != us(h, 0.99) {
				t.Errorf("second %d is %v and %v, want %v and %v", i, p50, p99, us(h, 0.5), us(h, 0.99))
			}
		}
		drawn := 0
		for _, m := range find(t, chart.Run(payload.OfRun(r)), "heat").Marks {
			q, is := map[string]float64{"p50": 0.5, "p99": 0.99}[m.Name]
			for i, p := range m.Points {
				if !is || i >= len(seconds) { // the last point ends the line
					continue
				}
				if drawn++; p.Y != us(seconds[i], q) {
					t.Errorf("%s of second %d is drawn at %v, want %v", m.Name, i, p.Y, us(seconds[i], q))
				}
			}
		}
		var rows bytes.Buffer
		if err := report.CSV(&rows, r); err != nil {
			t.Fatal(err)
		}
		table, err := csv.NewReader(&rows).ReadAll()
		if err != nil || len(table) != 1+len(seconds) {
			t.Fatalf("%d lines of CSV: %v", len(table), err)
		}
		for i, h := range seconds {
			for key, q := range map[string]float64{"p50_us": 0.5, "p99_us": 0.99} {
				if got := table[i+1][slices.Index(table[0], key)]; got != strconv.FormatFloat(us(h, q), 'f', -1, 64) {
					t.Errorf("%s of second %d is %s in CSV, want %v", key, i, got, us(h, q))
				}
			}
		}
		var text bytes.Buffer
		if err := report.Markdown(&text, r); err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"GET /a", "GET /b"} {
			h := routes[name]
			if p50, p99 := at(data, "result", "routes", i, "p50_us"), at(data, "result", "routes", i, "p99_us"); p50 != us(h, 0.5) || p99 != us(h, 0.99) {
				t.Errorf("%s is %v and %v, want %v and %v", name, p50, p99, us(h, 0.5), us(h, 0.99))
			}
			row := regexp.MustCompile(`(?m)^\| *` + name + ` .*$`).FindString(text.String())
			cells := strings.FieldsFunc(row, func(c rune) bool { return c == '|' })
			if len(cells) != 8 || strings.TrimSpace(cells[4]) != format.Micros(us(h, 0.5)) || strings.TrimSpace(cells[6]) != format.Micros(us(h, 0.99)) {
				t.Errorf("the report has %q, want %s and %s", row, format.Micros(us(h, 0.5)), format.Micros(us(h, 0.99)))
			}
		}
		if drawn != 6 || len(r.Series) != 3 || len(r.Routes) != 2 {
			t.Errorf("%d points are drawn, %d seconds, %d routes", drawn, len(r.Series), len(r.Routes))
		}
	}
}
