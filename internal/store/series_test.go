package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/lab"
	"dyno/internal/result"
)

// A fleet's results are in the history whatever machine it is of, as series of their own.
func TestFleetsInHistory(t *testing.T) {
	home := t.TempDir()
	fleet := func(minute int, names ...string) *result.Result {
		r := measured(minute, 900)
		r.Fleet = &result.Fleet{}
		for _, name := range names {
			r.Fleet.Agents = append(r.Fleet.Agents, result.Agent{Name: name, Weight: 1, Host: r.Host})
		}
		return r
	}
	elsewhere := measured(5, 800)
	elsewhere.Host.CPUs = 64
	ids := save(t, home, measured(1, 1000), fleet(2, "a", "b"), fleet(3, "a", "b"), fleet(4, "a", "b", "c"), elsewhere)
	s := opened(t, home)
	h, err := s.History(Query{Machine: MachineOf(measured(1, 1).Host), Metric: lab.Measures[0]})
	if err != nil {
		t.Fatal(err)
	}
	var listed, fleets []string
	for _, e := range h.Entries {
		listed, fleets = append(listed, e.ID), append(fleets, e.Fleet)
	}
	slices.Reverse(listed)
	if !slices.Equal(listed, ids[:4]) || h.Elsewhere != 1 ||
		!slices.Equal(fleets, []string{"a, b, c", "a, b", "a, b", ""}) {
		t.Errorf("%q of %q, %q, and %d elsewhere", listed, ids, fleets, h.Elsewhere)
	}
	var runs []int
	for _, series := range h.Series {
		runs = append(runs, len(series.Runs))
	}
	if !slices.Equal(runs, []int{1, 2, 1}) {
		t.Errorf("series of %d runs", runs)
	}
	if err := os.Remove(s.pathOf("results", ids[3]+".json")); err != nil {
		t.Fatal(err)
	}
	if err := s.Refresh(); err != nil {
		t.Fatal(err)
	}
	agrees(t, s)
}

// Series that seem to be one have what they asked for, and only those.
func TestSeriesApart(t *testing.T) {
	home := t.TempDir()
	one, other, faster := measured(1, 1000), measured(2, 1000), measured(3, 1000)
	other.Plan.Requests[0].Header = []proto.Field{{Name: "X", Value: "1"}}
	faster.Plan.Connections++
	ids := save(t, home, one, other, measured(4, 1000), faster)
	s := opened(t, home)
	q := Query{Metric: lab.Measures[0]}
	h, err := s.History(q)
	if err != nil || len(h.Series) != 3 {
		t.Fatalf("%d series, %v", len(h.Series), err)
	}
	for _, series := range h.Series {
		id, headers := series.Newest.ID, 0
		if id == ids[3] {
			if series.Asked != nil || series.Others != nil {
				t.Errorf("%s is like none: %+v", id, series)
			}
			continue
		}
		if id == ids[1] {
			headers = 1
		}
		if len(series.Asked.Requests[0].Header) != headers || len(series.Others) != 1 ||
			len(series.Others[0].Requests[0].Header) != 1-headers {
			t.Errorf("%s asked for %+v, and another for %+v", id, series.Asked, series.Others)
		}
	}
	if err := os.Remove(s.pathOf("results", ids[1]+".json")); err != nil {
		t.Fatal(err)
	}
	if err := s.Refresh(); err != nil {
		t.Fatal(err)
	}
	agrees(t, s)
	h, err = s.History(q)
	if err != nil || len(h.Series) != 2 || h.Series[0].Others != nil || h.Series[1].Others != nil {
		t.Fatalf("%+v, %v", h.Series, err)
	}
}

// A series has one name, whatever else is stored, asked for, or comes and goes.
func TestSeriesKeepTheirNames(t *testing.T) {
	home := t.TempDir()
	names := map[string]string{} // by the series' plan
	look := func(q Query) {
		t.Helper()
		s := opened(t, home)
		q.Metric = lab.Measures[0]
		h, err := s.History(q)
		if err = joined(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		for _, series := range h.Series {
			if had := names[series.Plan]; had != "" && had != series.Name || len(series.Name) < 4 {
				t.Errorf("series %s was called %q, and is %q", series.Plan, had, series.Name)
			}
			names[series.Plan] = series.Name
		}
	}
	for i := range 8 {
		r := measured(10-i, 1000)
		r.Plan.Target.URL = fmt.Sprint("http://127.0.0.1:8080/", i)
		save(t, home, r)
		look(Query{})
	}
	look(Query{URL: "*/3"})
	look(Query{Limit: 1})
	if err := os.Remove(filepath.Join(home, indexFile)); err != nil {
		t.Fatal(err)
	}
	look(Query{})
	if len(names) != 8 {
		t.Errorf("%d series: %v", len(names), names)
	}
}

// Two series of which the beginnings of their names are alike have longer ones.
func TestNamesThatBeginAlike(t *testing.T) {
	all := []Series{{Plan: "a"}, {Plan: "b"}, {Plan: "c"}}
	nameSeries(all, func(s Series) string {
		return map[string]string{"a": "ABCDEFG", "b": "ABCDEXY", "c": "QRSTUVW"}[s.Plan]
	})
	for i, want := range []string{"ABCDEF", "ABCDEX", "QRST"} {
		if all[i].Name != want {
			t.Errorf("%s is called %s, and not %s", all[i].Plan, all[i].Name, want)
		}
	}
}

// alike are two results of which the series' names begin with the same four letters.
func alike(t *testing.T) (a, b *result.Result) {
	t.Helper()
	urls := map[string]string{} // by those letters
	for i := range 100_000 {    // of 457,000 beginnings, two of a thousand are likely to be the same
		r := measured(1, 1000)
		r.Plan.Target.URL = fmt.Sprint("http://127.0.0.1:8080/", i)
		begins := Series{Plan: PlanOf(r.Plan), Machine: GeneratorsOf(r)}.fingerprintLetters()[:nameLeast]
		if url, had := urls[begins]; had {
			other := measured(2, 1000)
			other.Plan.Target.URL = url
			return r, other
		}
		urls[begins] = r.Plan.Target.URL
	}
	t.Fatal("no two names begin alike")
	return nil, nil
}

// Of two series that begin alike, each has the same name in the list of all and in a list of
// those of its URL.
func TestNamesUnderAFilter(t *testing.T) {
	home := t.TempDir()
	a, b := alike(t)
	save(t, home, a, b)
	s := opened(t, home)
	names := map[string]string{} // by URL
	for _, url := range []string{"", a.Plan.Target.URL, b.Plan.Target.URL} {
		h, err := s.History(Query{URL: url, Metric: lab.Measures[0]})
		if err != nil || len(h.Series) == 0 {
			t.Fatalf("%d series of %q, %v", len(h.Series), url, err)
		}
		for _, series := range h.Series {
			of := series.Newest.URL
			if had := names[of]; had != "" && had != series.Name || len(series.Name) <= nameLeast {
				t.Errorf("under %q, %s is called %q, and was called %q", url, of, series.Name, had)
			}
			names[of] = series.Name
		}
	}
}

// Runs that are a part of what was planned are listed, and are no points of a series: what
// they measured is neither a change nor what one is measured by.
func TestPartsAreNoPoints(t *testing.T) {
	home := t.TempDir()
	var whole, parts []string
	for minute := range 6 {
		whole = append(whole, save(t, home, measured(minute, 1000+float64(minute)))...)
	}
	lost := []result.Agent{{Name: "a"}, {Name: "b", Lost: "no sign of life"}}
	for i, ended := range []loadresult.Ending{loadresult.Interrupted, loadresult.Aborted, loadresult.Gone, loadresult.ByDuration, loadresult.Lost, loadresult.Aborted} {
		r := measured(10+i, 500+float64(i))
		if r.Ended = string(ended); ended == loadresult.ByDuration {
			r.Fleet = &result.Fleet{Agents: lost}
		}
		parts = append(parts, save(t, home, r)...)
	}
	s := opened(t, home)
	h, err := s.History(Query{Metric: lab.Measures[0]})
	if err != nil || len(h.Series) != 2 { // a fleet's is one of its own
		t.Fatalf("%d series, %v", len(h.Series), err)
	}
	var points []string
	for _, series := range h.Series {
		for _, r := range series.Runs {
			points = append(points, r.ID)
		}
		if len(series.Changes) > 0 {
			t.Errorf("changed: %+v", series.Changes)
		}
	}
	if !slices.Equal(points, whole) {
		t.Errorf("points %q, want %q", points, whole)
	}
	want := []string{"aborted", "LOST an agent", "LOST agent b", "server gone", "aborted", "interrupted"}
	for i, e := range h.Entries[:len(parts)] {
		if e.Partial != want[i] {
			t.Errorf("%s is %q, want %q", e.ID, e.Partial, want[i])
		}
	}
	if err := os.Remove(s.pathOf("results", parts[0]+".json")); err != nil {
		t.Fatal(err)
	}
	if err := s.Refresh(); err != nil {
		t.Fatal(err)
	}
	agrees(t, s)
}
