package method

import (
	"fmt"
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
)

// Each address has what went to it, up to so many; a name that was looked up once is not counted.
func TestAddressesText(t *testing.T) {
	c := result.Connections{}
	if s := AddressesText(c); s != "" {
		t.Error(s)
	}
	c.CountAddress(loadresult.AddressCount{Address: "10.0.0.1:80", Connections: 2, Answers: 1200, Errors: 1})
	c.Lookups, c.Unlooked = 7, 2
	if s := AddressesText(c); s != "; to 10.0.0.1:80: 2 connections, 1,200 answers, 1 error; 7 lookups (2 failed)" {
		t.Error(s)
	}
	c.Lookups = 0
	for i := range 10 {
		c.CountAddress(loadresult.AddressCount{Address: fmt.Sprintf("10.0.1.%d:80", i)})
	}
	if s := AddressesText(c); len(s) < 100 || s[len(s)-15:] != "; and to 3 more" {
		t.Error(s)
	}
}
