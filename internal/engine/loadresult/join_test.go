package loadresult

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto/tls"
	"dyno/internal/fact"
)

// filled is a value of a type, none of whose exported fields is zero.
func filled(t *testing.T, typ reflect.Type) reflect.Value {
	v := reflect.New(typ).Elem()
	switch typ {
	case reflect.TypeFor[*metric.Histogram]():
		h := metric.NewHistogram(metric.Coarse)
		h.Record(7)
		return reflect.ValueOf(h)
	case reflect.TypeFor[metric.Sparse]():
		h := metric.NewHistogram(metric.Fine)
		h.Record(7)
		return reflect.ValueOf(h.ToSparse())
	case reflect.TypeFor[fact.Args]():
		return reflect.ValueOf(fact.ThreadsLost{Threads: 1, Of: 2})
	case reflect.TypeFor[time.Time]():
		return reflect.ValueOf(time.Unix(7, 0))
	case reflect.TypeFor[loadplan.Plan](), reflect.TypeFor[[]*Result](), reflect.TypeFor[*Host](), reflect.TypeFor[*Result]():
		return v // see TestJoin
	}
	switch typ.Kind() {
	case reflect.Struct:
		for i := range typ.NumField() {
			if typ.Field(i).IsExported() {
				v.Field(i).Set(filled(t, typ.Field(i).Type))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(typ.Elem()))
		v.Elem().Set(filled(t, typ.Elem()))
	case reflect.Slice:
		v.Set(reflect.Append(v, filled(t, typ.Elem())))
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).Set(filled(t, typ.Elem()))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(typ))
		v.SetMapIndex(filled(t, typ.Key()), filled(t, typ.Elem()))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(3)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	default:
		t.Fatalf("no value of %v", typ)
	}
	return v
}

// zeroFields are the exported fields of v that are zero, by their names.
func zeroFields(v reflect.Value, name string) (all []string) {
	if v.Kind() == reflect.Pointer && !v.IsNil() && v.Type() != reflect.TypeFor[*metric.Histogram]() {
		v = v.Elem()
	}
	empty := (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
	if h, is := v.Interface().(*metric.Histogram); is && (h == nil || h.Count == 0) || v.IsZero() || empty {
		return []string{name}
	}
	if v.Kind() == reflect.Slice && v.Len() > 0 {
		return zeroFields(v.Index(0), name+"[0]")
	}
	if v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]() {
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				all = append(all, zeroFields(v.Field(i), strings.TrimPrefix(name+"."+f.Name, "."))...)
			}
		}
	}
	return all
}

// whole is a result of which nothing is zero, of a part of a plan.
func whole(t *testing.T, p loadplan.Plan) *Result {
	r := filled(t, reflect.TypeFor[*Result]().Elem()).Interface().(Result)
	r.Plan, r.Partial, r.Probe = p, false, &Result{}
	for _, h := range []**metric.Histogram{&r.Lag, &r.Total.Latency, &r.Total.Service, &r.Total.ErrorLatency,
		&r.Total.IterationTime, &r.Scenario.Time, &r.Scenario.FailedTime, &r.Scenario.Measures[0].Histogram} {
		*h = metric.NewHistogram(metric.Fine)
		(*h).Record(7)
	}
	r.Terms = map[tls.Terms]int64{{Version: "1.3", Cipher: "A"}: 3}
	return &r
}

// What one of two parts counted, the whole has: a field that is new and forgotten shows here.
func TestJoinKeepsEverything(t *testing.T) {
	plan := loadplan.DefaultPlan()
	plan.Connections, plan.Threads = 4, 2
	parts := plan.Split(2)
	for first := range 2 {
		told, silent := whole(t, parts[first]), &Result{Plan: parts[1-first], Total: metric.NewCounters(), Ended: Lost}
		told.Ended, silent.Outage = ByDuration, math.MaxInt64
		m, err := Join([]*Result{told, silent}, filled(t, reflect.TypeFor[[]Interval]()).Interface().([]Interval))
		if err != nil {
			t.Fatal(err)
		}
		never := []string{"Host", "Partial", "Proxy", "Probe", "Lost", "Dropped", // of parts, or of none
			"Total.Interval", "Total.From", "Total.InFlight"}
		bare := *m
		bare.Plan, bare.Parts = loadplan.Plan{}, nil
		never = append(never, "Plan", "Generators", "DNS") // of whose parts are all look-ups
		for _, name := range zeroFields(reflect.ValueOf(bare), "") {
			if !slices.ContainsFunc(never, func(s string) bool { return name == s || strings.HasSuffix(name, "."+s) }) {
				t.Errorf("%s is forgotten", name)
			}
		}
		if m.Probe != told.Probe || m.Ended != ByDuration || len(m.Parts) != 2 || m.Parts[0] != told {
			t.Errorf("%+v", m)
		}
	}
}

// What is told to another process comes back, but for what the intervals tell and the plan.
func TestToldComesBack(t *testing.T) {
	r := whole(t, loadplan.DefaultPlan())
	h := metric.NewHistogram(metric.Coarse)
	r.Connect = h // which has counted nothing
	b, err := json.Marshal(r.Told())
	if err != nil {
		t.Fatal(err)
	}
	back := new(Result)
	if err := json.Unmarshal(b, back); err != nil {
		t.Fatal(err)
	}
	if err := back.CheckTold(); err == nil || !strings.Contains(err.Error(), "its probe is none") {
		t.Error(err)
	}
	if back.Probe = nil; back.CheckTold() != nil {
		t.Error(back.CheckTold())
	}
	told := []string{"Plan", "Generators.Host", "Generators.Parts", "Generators.Partial", "Probe", "Total", "Intervals", "Connect", "Totals.ConnectionTotals.Connect",
		"Totals.Scenario.Completed", "Totals.Scenario.Failed", "Totals.Scenario.Time", "Totals.Scenario.Checks"}
	for _, name := range zeroFields(reflect.ValueOf(back).Elem(), "") {
		if !slices.Contains(told, name) {
			t.Errorf("%s is lost", name)
		}
	}
	back.Connect.Merge(r.FirstByte)
	if back.Connect.Count != 1 || !slices.Equal(back.Samples[0].Body, r.Samples[0].Body) || !reflect.DeepEqual(back.Terms, r.Terms) {
		t.Errorf("%+v, %+v, %+v", back.Connect, back.Samples, back.Terms)
	}
}

// Histograms and lists that no generator has are refused before they are added to others.
func TestCheckTold(t *testing.T) {
	coarse, fine := metric.NewHistogram(metric.Coarse), metric.NewHistogram(metric.Fine)
	for want, spoil := range map[string]func(r *Result){
		"what its reports tell": func(r *Result) { r.Total = metric.NewCounters() },
		"of another kind":       func(r *Result) { r.FirstByte = fine },
		"another kind":          func(r *Result) { r.Lag = coarse },
		"a histogram is":        func(r *Result) { r.Routes[0].Latency = fine },
		"a histogram is of":     func(r *Result) { r.Scenario.Measures[0].Histogram = coarse },
		"another":               func(r *Result) { r.Probe = &Result{Total: &metric.Counters{}} },
		"its probe is":          func(r *Result) { r.Probe = &Result{Total: metric.NewCounters(), Probe: &Result{}} },
		"its probe is none":     func(r *Result) { r.Probe = &Result{} },
		"a list of it is longer": func(r *Result) {
			r.Routes[0].Unanswered = make(Unanswered, WaitsMost+1)
		},
		"a list": func(r *Result) { r.Notices = slices.Repeat([]fact.Fact{fact.Noticed(fact.ShareLate{})}, listMost+1) },
		"longer": func(r *Result) { r.Routes = make([]Route, RoutesMax+1) },
	} {
		r := whole(t, loadplan.DefaultPlan()).Told()
		r.Probe = nil
		if err := r.CheckTold(); err != nil {
			t.Fatal(err)
		}
		spoil(r)
		if err := r.CheckTold(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Of parts of which nothing but their intervals is known, nobody knows an outage: it is that of the others.
func TestOutageOfParts(t *testing.T) {
	plan := loadplan.DefaultPlan()
	plan.Connections, plan.Threads = 6, 3
	for _, c := range []struct {
		outages []int64 // -1: it is not known
		want    int64
	}{{[]int64{5, 3, 4}, 3}, {[]int64{5, -1, 4}, 4}, {[]int64{-1, -1, 4}, 4}, {[]int64{5, 0, -1}, 0}, {[]int64{-1, -1, -1}, 0}} {
		var parts []*Result
		for i, p := range plan.Split(3) {
			r := &Result{Plan: p, Total: metric.NewCounters(), Totals: NewTotals(), Ended: ByDuration}
			if r.Outage = c.outages[i]; r.Outage < 0 {
				r = new(Tally).Partial(p)
				r.setIntervals(new(Tally))
			}
			parts = append(parts, r)
		}
		if m, err := Join(parts, nil); err != nil || m.Outage != c.want {
			t.Errorf("%v: %+v, %v", c.outages, m, err)
		}
	}
}

// A route has the latency of all parts, or none.
func TestRoutesOfParts(t *testing.T) {
	plan := loadplan.DefaultPlan()
	plan.Connections, plan.Threads = 6, 3
	var parts []*Result
	whole := [3]*metric.Histogram{}
	for k, p := range plan.Split(3) {
		r := &Result{Plan: p, Total: metric.NewCounters(), Totals: NewTotals(), Ended: ByDuration}
		for i, name := range []string{"a", "b", "c"} {
			h := metric.NewHistogram(metric.Coarse)
			for v := range int64(100 * (i + 1)) {
				h.Record(v * v * int64(k+1) * 1000)
			}
			if whole[i] == nil {
				whole[i] = metric.NewHistogram(metric.Coarse)
			}
			whole[i].Merge(h)
			r.Routes = append(r.Routes, Route{Name: name, Completed: h.Count, Latency: h})
		}
		parts = append(parts, r)
	}
	parts[1] = parts[1].LeaveOutTimes(parts[1].Routes[0].bytes()) // the others have more buckets
	m, err := Join(parts, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range m.Routes {
		if x.Completed != whole[i].Count || (x.Latency == nil) != (i > 0) || i == 0 && x.Latency.EncodeHDR() != whole[i].EncodeHDR() {
			t.Errorf("%+v of %d", x, whole[i].Count)
		}
	}
	if m.Untimed() != 2 || len(m.Routes) != 3 {
		t.Errorf("%d of %d routes have no latency", m.Untimed(), len(m.Routes))
	}
}

// Parts of another plan, or not all of them, are no whole.
func TestJoinRefuses(t *testing.T) {
	plan := loadplan.DefaultPlan()
	plan.Connections, plan.Threads = 6, 3
	var all []*Result
	for _, p := range plan.Split(3) {
		all = append(all, whole(t, p))
	}
	for want, parts := range map[string][]*Result{"no part": nil, "part 1 of 3 is not one of these 2": all[:2]} {
		if _, err := Join(parts, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
