package run

import (
	"os"
	"runtime/debug"
	"testing"
)

// Simulated loads make many histograms, and no test is about memory: collecting garbage a quarter as
// often takes a fifth less CPU time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
