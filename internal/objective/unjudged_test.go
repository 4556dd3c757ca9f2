package objective

import (
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/result"
)

// That half of the requests failed is said where no objective counts it, and none is missed.
func TestUnjudgedErrors(t *testing.T) {
	for _, c := range []struct {
		slos   []result.Outcome
		errors int64
		want   bool
	}{
		{[]result.Outcome{{Expr: "p99<1s", Met: true}, {Expr: "rps>1", Met: true}}, 50, true},
		{[]result.Outcome{{Expr: "p99<1s", Undecided: result.FewValues}}, 1, true},
		{[]result.Outcome{{Expr: "p99<1s", Met: true}}, 0, false},
		{[]result.Outcome{{Expr: "p99<1s"}}, 50, false},
		{[]result.Outcome{{Expr: "p99<1s", Met: true}, {Expr: "errors<60%", Met: true}}, 50, false},
		{[]result.Outcome{{Expr: "checks.a>1%", Met: true}}, 50, false},
		{nil, 50, false},
	} {
		r := &result.Result{Objectives: c.slos, Requests: result.Requests{Sent: 100, Errors: c.errors}}
		r.Warnings = []string{"another"}
		NoteUnjudged(r)
		_, f, found := fact.Find[fact.ErrorsUnjudged](r.Facts)
		if found != c.want || found && (f.Percent != float64(c.errors) ||
			!strings.HasSuffix(r.Warnings[0], "no objective limits errors: the objectives are met by the other requests alone; give --slo 'errors<1%'")) {
			t.Errorf("%+v, %d errors: %+v, %q", c.slos, c.errors, r.Facts, r.Warnings)
		}
	}
}
