//go:build linux && slow

package e2e

import "testing"

// TestGigabyte is TestTransfers of 1 GiB down. make test-slow runs it.
func TestGigabyte(t *testing.T) {
	s := startStreamer(t)
	for _, x := range transfers {
		t.Run(x.name, func(t *testing.T) { x.runTransfer(t, s, 1<<30, "") })
	}
}
