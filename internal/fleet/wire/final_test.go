package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/result"
)

// measured is a result of so many seconds, each with what a busy one has.
func measured(t *testing.T, seconds int) *result.Result {
	t.Helper()
	r, err := result.From(&loadresult.Result{Plan: plan(), Ended: loadresult.Interrupted}, "v")
	if err != nil {
		t.Fatal(err)
	}
	coin := rand.New(rand.NewPCG(1, 2))
	r.Series = make([]result.Point, seconds)
	for i := range r.Series {
		p := result.Point{T: float64(i + 1), Sent: 10_000, Completed: coin.Int64N(10_000), Mean: coin.Float64(),
			P50: 80.1, P99: 150.3, Max: 4000.5, InFlight: 40, Received: coin.Int64N(1e6), Written: 640_000,
			Status: map[string]int64{"200": coin.Int64N(10_000), "503": 3}}
		for b := range int64(20) {
			p.Heat = append(p.Heat, [2]int64{14 + b, coin.Int64N(5000)})
		}
		r.Series[i] = p
	}
	return r
}

// together are the parts of a final as whoever reads them puts them together.
func together(t *testing.T, parts [][]byte) (last *Final, series []result.Point) {
	t.Helper()
	for i, b := range parts {
		f, err := ParseFinalPart(b)
		if err != nil {
			t.Fatalf("part %d of %d: %v", i+1, len(parts), err)
		}
		if f.More == (i == len(parts)-1) {
			t.Errorf("part %d of %d says that others follow: %v", i+1, len(parts), f.More)
		}
		series = append(series, f.Series...)
		last = f
	}
	return last, series
}

// The final of a run of days comes in parts, each of which is short, and is whole when they are
// together, but for what its reader knows.
func TestFinalOfDays(t *testing.T) {
	const days = 3
	r := measured(t, days*24*60) // a second of each minute, to be quick
	was := Encode(r)
	f := Final{Result: r, Start: 12, Late: 3, Why: "so"}
	parts := slices.Collect(f.PackParts())
	last, series := together(t, parts)
	if last.Start != 12 || last.Late != 3 || last.Why != "so" || last.Result.Ended != "interrupted" {
		t.Errorf("%+v", last)
	}
	if last.Result.Plan.Target.Host != "" || len(last.Result.Plan.Requests) > 0 {
		t.Errorf("it tells of a plan that is the controller's: %+v", last.Result.Plan)
	}
	last.Result.Plan, last.Result.Series = r.Plan, series
	if now := Encode(last.Result); !bytes.Equal(now, was) {
		t.Errorf("%d bytes, were %d", len(now), len(was))
	}
	longest := 0
	for _, b := range parts {
		longest = max(longest, len(b))
	}
	if longest > PartMax/2 || len(parts) < len(r.Series)/partPointsMax {
		t.Errorf("%d parts, the longest of %d bytes", len(parts), longest)
	}
	t.Logf("%d seconds are %d parts, the longest of %d bytes", len(r.Series), len(parts), longest)
}

// A server that answers with every status there is makes seconds long, and no part too long.
func TestFinalOfManyStatuses(t *testing.T) {
	r := measured(t, 120)
	for i := range r.Series {
		for code := range 900 {
			r.Series[i].Status[fmt.Sprint(100+code)] = 1 << 40
		}
	}
	if _, series := together(t, slices.Collect(Final{Result: r}.PackParts())); len(series) != len(r.Series) {
		t.Errorf("%d seconds of %d", len(series), len(r.Series))
	}
}

// What no part can hold is no result, and that is said.
func TestFinalTooLong(t *testing.T) {
	r := measured(t, 3)
	for i := range 100_000 {
		r.Errors = append(r.Errors, result.Error{Phase: "read", Kind: fmt.Sprint(i), Count: 1})
	}
	last, series := together(t, slices.Collect(Final{Result: r, Why: "so"}.PackParts()))
	if last.Result != nil || !strings.Contains(last.Error, "an agent's result") || last.Why != "so" || len(series) != 3 {
		t.Errorf("%+v", last)
	}
}

// packed is what a liar sends: any text, packed.
func packed(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

// Some kilobytes cannot have gigabytes made of them: what a part becomes is limited before it is
// read, in bytes and in values.
func TestFinalMakesNoRoomForLies(t *testing.T) {
	whole, err := json.Marshal(measured(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	many := func(head, one string, n int) string { return head + strings.Repeat(one+",", n) + one + "]}" }
	for name, c := range map[string]struct{ text, want string }{
		"seconds":          {many(`{"more":true,"series":[`, "{}", 2<<20), "longer than"},
		"fewer seconds":    {many(`{"more":true,"series":[`, "{}", 1<<20), "values"},
		"none of them":     {many(`{"more":true,"series":[`, "null", 700_000), "values"},
		"one long word":    {`{"error":"` + strings.Repeat("x", 6<<20) + `"}`, "longer than"},
		"statuses":         {many(`{"more":true,"series":[{"heat":[`, "[0,0]", 600_000), "values"},
		"in one part":      {`{"result":` + string(whole) + `}`, "as earlier versions send it"},
		"seconds and more": {`{"more":true,"series":[{}],"error":"x"}`, "and nothing else"},
		"no seconds":       {`{"more":true}`, "and nothing else"},
		"neither":          {`{}`, "either it or why"},
		"unknown":          {`{"x":1}`, "unknown field"},
	} {
		b := packed(c.text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ParseFinalPart(b)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Errorf("%s: %d bytes had %d MB made", name, len(b), used>>20)
		}
	}
	for name, b := range map[string][]byte{"nothing": nil, "no gzip": []byte("{}"),
		"half": slices.Collect(Final{Error: "x"}.PackParts())[0][:20], "too long": make([]byte, PartMax+1)} {
		if _, err := ParseFinalPart(b); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A message has so many values at most, and commas in words are none.
func TestValues(t *testing.T) {
	for text, want := range map[string]int{"": 0, "{}": 1, `{"a":[1,2,3]}`: 4, `{"a":",,,[[[\",{"}`: 1, `[[],[],{}]`: 6} {
		if n := countValues([]byte(text)); n != want {
			t.Errorf("%s: %d, want %d", text, n, want)
		}
	}
	var r Report
	long := `{"run":"r","seq":1,"tick":{"Failures":[` + strings.Repeat("{},", 100_000) + `{}]}}`
	if err := Decode([]byte(long), &r); err == nil || !strings.Contains(err.Error(), "values") || r.Tick != nil {
		t.Errorf("%v", err)
	}
}

// FuzzOpenFinal reads what anybody can have packed: what can be read is what would be written.
func FuzzOpenFinal(f *testing.F) {
	f.Add(`{"series":[{"t_s":1,"sent":2,"completed":1,"errors":0,"in_flight":1,"bytes_received":3,"bytes_sent":4}],"more":true,"start":0,"late":0}`)
	f.Add(`{"error":"it has no result","start":1,"late":2,"why":"so"}`)
	f.Add(`{"result":{"status":{"200":9223372036854775807},"latency":{"count":-1,"hdr":"AAAA"},"errors":[{}],"series":[]},"start":-1,"late":9}`)
	f.Add(`{"more":true,"series":[{},{},{},null]}`)
	f.Fuzz(func(t *testing.T, text string) {
		one, err := ParseFinalPart(packed(text))
		if err != nil {
			return
		}
		other, err := ParseFinalPart(one.compress())
		if err != nil {
			t.Fatalf("%s is read and is written as %s: %v", text, Encode(one), err)
		}
		if a, b := Encode(one), Encode(other); !bytes.Equal(a, b) {
			t.Errorf("%s, read again %s", a, b)
		}
	})
}

// Iterations and checks come through, with their histograms.
func TestFinalOfUsers(t *testing.T) {
	p := plan()
	p.Steps, p.Checks = []string{"list", "buy"}, []string{"price"}
	s := &loadresult.ScenarioTotals{Users: 2, Started: 3, Completed: 2, Failed: 1, Time: metric.NewHistogram(metric.Fine),
		FailedTime: metric.NewHistogram(metric.Fine), Checks: []loadresult.CheckTotals{{Name: "price", Passed: 2, Failed: 1}}}
	s.Time.Record(2e6)
	s.Time.Record(3e6)
	s.FailedTime.Record(1e6)
	r, err := result.From(&loadresult.Result{Plan: p, Ended: loadresult.ByRequests, Totals: loadresult.Totals{Scenario: s}}, "v")
	if err != nil {
		t.Fatal(err)
	}
	last, _ := together(t, slices.Collect(Final{Result: r}.PackParts()))
	if last.Result == nil || !reflect.DeepEqual(last.Result.Scenario, r.Scenario) || r.Iterations.Time.HDR == "" {
		t.Errorf("%s, was %+v", Encode(last), r.Scenario)
	}
}
