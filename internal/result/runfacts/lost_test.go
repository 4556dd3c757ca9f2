package runfacts

import (
	"reflect"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
)

// A lost address is a fact with since when, how bad that is, and the name that was looked up.
func TestLostAddresses(t *testing.T) {
	const second = time.Second
	gone := func(others int, since time.Duration) loadresult.LostAddress {
		return loadresult.LostAddress{Address: "192.0.2.1:80", Why: "refused", Since: since, Times: 1, Addresses: 3, Others: others}
	}
	only, back, briefly := gone(0, 2*second), gone(2, 2*second), gone(2, 2*second)
	only.Addresses = 1
	back.IsBack, back.Back, back.For, back.Times = true, 9*second, second, 2
	briefly.IsBack, briefly.Back, briefly.For, briefly.Times = true, 50*second, second/2, 2
	for what, c := range map[string]struct {
		host  string
		ended loadresult.Ending
		lost  loadresult.LostAddress
		want  *fact.AddressLost
		how   fact.Severity
		proxy string
	}{
		"one of three, from the start": {"a.example", loadresult.ByDuration, gone(2, -second),
			&fact.AddressLost{Name: "a.example", Why: "refused", Times: 1, Others: 2}, fact.Note, ""},
		"one of three, later": {"a.example", loadresult.ByDuration, gone(2, 2*second),
			&fact.AddressLost{Name: "a.example", Why: "refused", SinceS: 2, Times: 1, Others: 2}, fact.Warning, ""},
		"for a time": {"a.example", loadresult.ByDuration, back,
			&fact.AddressLost{Name: "a.example", Why: "refused", SinceS: 2, BackS: 9, Times: 2, Others: 2}, fact.Warning, ""},
		"for moments": {"a.example", loadresult.ByDuration, briefly, nil, "", ""},
		"the only one": {"a.example", loadresult.Gone, only,
			&fact.AddressLost{Name: "a.example", Why: "refused", SinceS: 2, Times: 1}, fact.Error, ""},
		"the only one, which is no name":        {"192.0.2.1", loadresult.Gone, only, &fact.AddressLost{Why: "refused", SinceS: 2, Times: 1}, fact.Error, ""},
		"the only one, which was never reached": {"a.example", loadresult.Unreachable, only, nil, "", ""},
		"each of three, which were never reached": {"a.example", loadresult.Unreachable, gone(0, -second),
			&fact.AddressLost{Name: "a.example", Why: "refused", Times: 1}, fact.Error, ""},
		"a proxy's": {"a.example", loadresult.Gone, only,
			&fact.AddressLost{Name: "p.example", Why: "refused", SinceS: 2, Times: 1, Proxy: true}, fact.Error, "http://p.example:3128"},
	} {
		r := &loadresult.Result{Ended: c.ended, Plan: loadplan.Plan{Target: loadplan.Target{Host: c.host}}}
		r.Plan.Proxy = c.proxy
		r.Lost = []loadresult.LostAddress{c.lost}
		var want []fact.Fact
		if c.want != nil {
			want = []fact.Fact{{Severity: c.how, Scope: fact.Scope{Address: "192.0.2.1:80"}, Args: *c.want}}
		}
		if got := LostAddresses(r); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
}

// Of several generators each address is lost once, with those that lost it if others did not.
func TestMergeLost(t *testing.T) {
	lost := func(address string, since, back float64, others int, how fact.Severity, parts ...int) fact.Fact {
		return fact.Fact{Severity: how, Scope: fact.Scope{Address: address, Parts: parts},
			Args: fact.AddressLost{Why: "refused", SinceS: since, BackS: back, Times: 1, Others: others}}
	}
	got := mergeLost([][]fact.Fact{
		{lost("a", 2, 9, 1, fact.Warning), lost("b", 3, 0, 1, fact.Warning)},
		{lost("a", 1, 8, 1, fact.Warning)},
		{lost("a", 2, 4, 1, fact.Warning), lost("b", 2, 9, 0, fact.Error)},
	})
	want := []fact.Fact{lost("a", 1, 9, 1, fact.Warning), lost("b", 2, 0, 0, fact.Error, 1, 3)}
	want[1].Scope.OfParts = 3
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
