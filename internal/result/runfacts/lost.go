package runfacts

import (
	"net/netip"
	"slices"
	"time"

	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
)

// leastLost is for how long, in all, an address was lost that is back, if a reader is told.
const leastLost = time.Second

// LostAddresses says which addresses of the target could not be connected to, and since when. That
// the only one could not be reached at all is said anyway.
func LostAddresses(r *loadresult.Result) (all []fact.Fact) {
	if len(r.Parts) > 0 {
		var parts [][]fact.Fact
		for _, p := range r.Parts {
			parts = append(parts, LostAddresses(p))
		}
		return mergeLost(parts)
	}
	name, _ := r.Plan.Dialed()
	if _, err := netip.ParseAddr(name); err == nil || r.Plan.Target.Unix != "" {
		name = ""
	}
	for _, l := range r.Lost {
		if l.IsBack && l.For < leastLost ||
			l.Addresses == 1 && r.Ended == loadresult.Unreachable {
			continue
		}
		found := fact.AddressLost{Name: name, Why: l.Why, SinceS: max(l.Since, 0).Seconds(),
			Times: l.Times, Others: l.Others, Proxy: r.Plan.Proxy != ""}
		if l.IsBack {
			found.BackS = max(l.Back, 1).Seconds()
		}
		severity := fact.Warning
		if l.Others == 0 {
			severity = fact.Error
		} else if found.SinceS == 0 && found.BackS == 0 {
			severity = fact.Note
		}
		all = append(all, fact.Fact{Severity: severity, Scope: fact.Scope{Address: l.Address},
			Args: found})
	}
	return all
}

// mergeLost are the lost addresses of all parts, each once, with the parts that lost it if others
// did not.
func mergeLost(parts [][]fact.Fact) (all []fact.Fact) {
	for i, part := range parts {
		for _, f := range part {
			a := f.Args.(fact.AddressLost)
			at := slices.IndexFunc(all, func(g fact.Fact) bool { return g.Scope.Address == f.Scope.Address })
			if at < 0 {
				f.Scope.Parts = []int{i + 1}
				all = append(all, f)
				continue
			}
			g := &all[at]
			b := g.Args.(fact.AddressLost)
			b.SinceS, b.Others = min(a.SinceS, b.SinceS), min(a.Others, b.Others)
			if b.Times = max(a.Times, b.Times); a.BackS == 0 || b.BackS == 0 {
				b.BackS = 0
			} else {
				b.BackS = max(a.BackS, b.BackS)
			}
			if f.Severity == fact.Error || g.Severity == fact.Note {
				g.Severity = f.Severity
			}
			g.Args, g.Scope.Parts = b, append(g.Scope.Parts, i+1)
		}
	}
	for i := range all {
		if scope := &all[i].Scope; len(scope.Parts) == len(parts) {
			scope.Parts = nil
		} else {
			scope.OfParts = len(parts)
		}
	}
	return all
}
