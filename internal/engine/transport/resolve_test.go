package transport

import (
	"net/netip"
	"testing"

	"dyno/internal/engine/loadplan"
)

// Addresses that somebody has judged take the place of a look-up, each once.
func TestAddressesAreNotLookedUp(t *testing.T) {
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{Host: "nowhere.invalid", Port: 81}
	for _, a := range []string{"127.0.0.1", "::1", "::ffff:127.0.0.1"} {
		p.Addresses = append(p.Addresses, netip.MustParseAddr(a))
	}
	all, took, err := ResolveTarget(t.Context(), &p)
	if err != nil || took != 0 || len(all) != 2 || all[0].TCP.String() != "127.0.0.1:81" ||
		all[1].TCP.String() != "[::1]:81" {
		t.Errorf("%v, %v, %v", all, took, err)
	}
}
