package wire

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
)

// counted is what an agent counted besides its seconds.
func counted() *loadresult.Result {
	h, empty := metric.NewHistogram(metric.Coarse), metric.NewHistogram(metric.Coarse)
	for v := range int64(1000) {
		h.Record(v * v * 1000)
	}
	r := &loadresult.Result{Ended: loadresult.ByRequests, Ring: "epoll", CPU: time.Second, Busy: 0.5,
		Totals: loadresult.Totals{FirstByte: h, ConnectionTotals: loadresult.ConnectionTotals{Opened: 3, Connect: empty},
			Law: loadresult.Law{Spans: 7}, Scenario: loadresult.NewScenarioTotals([]string{"price"})}}
	r.Law.Bins[255] = 7
	r.Scenario.Users, r.Scenario.Started = 2, 3
	r.Scenario.FailedTime.Record(1e6)
	for i := range loadresult.RoutesMax {
		r.Routes = append(r.Routes, loadresult.Route{Name: fmt.Sprint("GET /path/of/", i), Completed: 1000, Latency: h})
	}
	return r
}

// A final comes through, with its histograms, also of as many routes as there can be.
func TestFinal(t *testing.T) {
	was := Final{Result: counted(), Start: 12, Threads: 2, Why: "so"}
	b := was.Pack()
	f, err := ParseFinal(b)
	if err != nil {
		t.Fatal(err)
	}
	if f.Start != 12 || f.Threads != 2 || f.Why != "so" || f.Result.CheckTold() != nil || !bytes.Equal(Encode(f), Encode(was)) {
		t.Errorf("%s\nwas %s", Encode(f), Encode(was))
	}
	x := f.Result
	if x.FirstByte.EncodeHDR() != was.Result.FirstByte.EncodeHDR() || x.Law.Bins[255] != 7 || x.Connect.Count != 0 ||
		x.Scenario.FailedTime.Max != 1e6 || x.Scenario.Started != 3 {
		t.Errorf("%+v", x)
	}
	t.Logf("%d bytes", len(b))
}

// routesOf is a result of as many routes as there can be, each with its own n answers: of a millisecond
// to tens of them, or of all lengths from a microsecond to a thousand seconds.
func routesOf(n int, anything bool) *loadresult.Result {
	random := rand.New(rand.NewPCG(1, 2))
	scale := func(i int) float64 { return math.Pow(10, float64(i)/float64(n)*9-3) }
	r := &loadresult.Result{Ended: loadresult.ByDuration}
	for i := range loadresult.RoutesMax {
		h := metric.NewHistogram(metric.Coarse)
		for k := range n {
			ms := math.Exp(random.NormFloat64()*0.6) * float64(i%7+1)
			if anything {
				ms *= scale(k)
			}
			h.Record(int64(ms * 1e6))
		}
		r.Routes = append(r.Routes, loadresult.Route{Name: fmt.Sprint("GET /path/of/", i), Completed: int64(n), Latency: h})
	}
	return r
}

// A thousand routes of thousands of answers each come through whole. If their histograms are more
// than a final has room for, the longest of them are missing, and nothing else is.
func TestFinalOfManyRoutes(t *testing.T) {
	all := routesOf(5000, false)
	b := Final{Result: all}.Pack()
	f, err := ParseFinal(b)
	if err != nil || f.Result == nil || f.Result.Untimed() > 0 || !bytes.Equal(Encode(f.Result), Encode(all)) {
		t.Errorf("%d bytes: %v, %+v", len(b), err, f)
	}
	t.Logf("%d bytes", len(b))
	large := routesOf(6000, true)
	large.Routes[7].Latency = all.Routes[7].Latency
	b = Final{Result: large}.Pack()
	if f, err = ParseFinal(b); err != nil || f.Result == nil || f.Result.CheckTold() != nil {
		t.Fatalf("%d bytes: %v, %+v", len(b), err, f)
	}
	t.Logf("%d bytes, %d routes without latency", len(b), f.Result.Untimed())
	if n := f.Result.Untimed(); n < 100 || n > 900 || f.Result.Routes[7].Latency == nil || len(f.Result.Routes) != loadresult.RoutesMax {
		t.Errorf("%d routes have no latency", n)
	}
	for i, x := range f.Result.Routes {
		if was := large.Routes[i]; x.Name != was.Name || x.Completed != was.Completed ||
			x.Latency != nil && x.Latency.EncodeHDR() != was.Latency.EncodeHDR() {
			t.Fatalf("route %d: %+v", i, x)
		}
	}
}

// What no final can hold is no result, and that is said.
func TestFinalTooLong(t *testing.T) {
	r := counted()
	for i := range 100_000 {
		r.Failures = append(r.Failures, loadresult.Failure{Phase: "read", Kind: fmt.Sprint(i), Count: 1})
	}
	last, err := ParseFinal(Final{Result: r, Why: "so"}.Pack())
	if err != nil || last.Result != nil || !strings.Contains(last.Error, "an agent's result") || last.Why != "so" {
		t.Errorf("%+v, %v", last, err)
	}
}

// packed is what a liar sends: any text, packed.
func packed(text string) []byte { return compress([]byte(text)) }

// Some kilobytes cannot have gigabytes made of them: what a final becomes is limited before it is
// read, in bytes and in values, and histograms take no more than their buckets.
func TestFinalMakesNoRoomForLies(t *testing.T) {
	many := func(head, one string, n int) string { return head + strings.Repeat(one+",", n) + one + "]}" }
	for name, c := range map[string]struct{ text, want string }{
		"routes":           {many(`{"result":{"Routes":[`, "{}", 2<<20) + "}", "longer than"},
		"fewer routes":     {many(`{"result":{"Routes":[`, "{}", 1<<20) + "}", "values"},
		"none of them":     {many(`{"result":{"Routes":[`, "null", 700_000) + "}", "values"},
		"one long word":    {`{"error":"` + strings.Repeat("x", 7<<20) + `"}`, "longer than"},
		"probes of probes": {`{"result":{` + strings.Repeat(`"Probe":{`, 9000) + strings.Repeat("}", 9002), "deep"},
		"lists":            {`{"result":{"Routes":` + strings.Repeat("[", 3<<20), "deep"},
		"samples":          {many(`{"result":{"Samples":[`, "{}", 10_000) + "}", "a list of it has 10001 values"},
		"neither":          {`{}`, "either it or why"},
		"both":             {`{"error":"x","result":{}}`, "either it or why"},
		"unknown":          {`{"x":1}`, "unknown field"},
		"a plan":           {`{"result":{"Plan":{}}}`, "unknown field"},
		"buckets":          {`{"result":{"FirstByte":{"count":1,"sum":1,"min":1,"max":1,"digits":9,"buckets":"AQE="}}}`, "damaged"},
	} {
		b := packed(c.text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ParseFinal(b)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 || len(c.text) < 1<<20 && used > 4<<20 {
			t.Errorf("%s: %d bytes had %d KB made", name, len(b), used>>10)
		}
	}
	for name, b := range map[string][]byte{"nothing": nil, "no gzip": []byte("{}"),
		"half": Final{Error: "x"}.Pack()[:20], "too long": make([]byte, FinalMax+1)} {
		if _, err := ParseFinal(b); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	one := `{"Name":"x","Latency":{"count":1,"sum":1,"min":1,"max":1,"digits":3,"buckets":"AQE="}}`
	b := packed(many(`{"result":{"Routes":[`, one, 2000) + "}")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := ParseFinal(b)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; err != nil || f.Result.CheckTold() == nil || used > 64<<20 {
		t.Errorf("%d histograms had %d MB made: %v", 2001, used>>20, err)
	}
}

// A message has so many values at most, so many of them in a list, and so deep; commas and brackets in
// words are none.
func TestValues(t *testing.T) {
	for text, want := range map[string]shape{"": {}, "{}": {1, 0, 1}, `{"a":[1,2,3]}`: {4, 3, 2}, `{"a":",,,[[[\",{"}`: {1, 0, 1},
		`[[],[],{}]`: {6, 3, 2}, "[[[[[[[[[": {4, 0, 4}, ",]}[1,2": {2, 2, 1}} {
		if is := shapeOf([]byte(text), 3); is != want {
			t.Errorf("%s: %+v, want %+v", text, is, want)
		}
	}
	if is := shapeOf(Encode(Final{Result: counted()}), depthMax); is.depth > 8 {
		t.Errorf("a final is %+v", is)
	}
	var r Report
	long := `{"run":"r","seq":1,"tick":{"Failures":[` + strings.Repeat("{},", 100_000) + `{}]}}`
	if err := Decode([]byte(long), &r); err == nil || !strings.Contains(err.Error(), "values") || r.Tick != nil {
		t.Errorf("%v", err)
	}
}

// FuzzOpenFinal reads what anybody can have packed: what can be read is what would be written.
func FuzzOpenFinal(f *testing.F) {
	f.Add(`{"error":"it has no result","start":1,"why":"so"}`)
	f.Add(string(Encode(Final{Result: counted()})))
	f.Add(`{"result":{"Status":{"200":9223372036854775807},"Connect":{"count":-1},"Failures":[{}]},"start":-1}`)
	f.Add(`{"result":{"Terms":{"1.3 A ":3},"Probe":{"Total":{"Latency":{"digits":3}}},"Scenario":{"Measures":[{"Name":"a"}]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		one, err := ParseFinal(packed(text))
		if err != nil {
			return
		}
		other, err := ParseFinal(compress(Encode(one)))
		if err != nil {
			t.Fatalf("%s is read and is written as %s: %v", text, Encode(one), err)
		}
		if a, b := Encode(one), Encode(other); !bytes.Equal(a, b) {
			t.Errorf("%s, read again %s", a, b)
		}
	})
}
