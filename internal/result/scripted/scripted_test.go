package scripted

import (
	"strings"
	"testing"

	"dyno/internal/engine/metric"
)

func named(name string, sum float64, values ...int64) metric.Named {
	n := metric.Named{Name: name, Sum: sum}
	if values != nil {
		n.Histogram = metric.NewHistogram(metric.Fine)
		for _, v := range values {
			n.Histogram.Record(v)
		}
	}
	return n
}

// Of several generators all is added up, whichever have a metric, and nothing is lost on the way to a
// result and back.
func TestFromSum(t *testing.T) {
	one := []metric.Named{named("a", 1.5), named("h", 0, 1000, 2500)}
	two := []metric.Named{named("b", 7), named("e", 0, []int64{}...), named("h", 0, 40_000)}
	all := From(metric.AddNamed(metric.AddNamed(nil, one), two))
	if len(all) != 4 || Check(all) != nil {
		t.Fatal(all, Check(all))
	}
	a, _ := Find(all, "a")
	b, _ := Find(all, "b")
	h, _ := Find(all, "h")
	v := h.Values
	if *a.Value != 1.5 || *b.Value != 7 || v.Count != 3 || v.Min != 1 || v.Max != 40 || v.Mean != 14.5 || v.P50 != 2.501 {
		t.Errorf("%v %v %+v", *a.Value, *b.Value, v)
	}
	if p, ok := v.Percentile(50); !ok || p != 2.501 {
		t.Error(p, ok)
	}
	if e, _ := Find(all, "e"); e.Value != nil || e.Values != nil {
		t.Errorf("%+v", e)
	}
	if _, is := Find(all, "none"); is {
		t.Error("none is found")
	}
}

// What cannot be is found.
func TestCheck(t *testing.T) {
	one := 1.0
	for want, all := range map[string][]Metric{
		`"a" follows "b"`:            {{Name: "b", Value: &one}, {Name: "a", Value: &one}},
		"is a counter and a":         {{Name: "a", Value: &one, Values: &Values{HDR: "x"}}},
		`the histogram "a": reading`: {{Name: "a", Values: &Values{HDR: "x"}}},
	} {
		if err := Check(all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
