package machine

import (
	"runtime"
	"testing"
)

// Each worker of each load has a processor of its own and the others have one; what is there
// once is used again.
func TestKeepProcs(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	want := func(n int) {
		t.Helper()
		if got := runtime.GOMAXPROCS(0); got != n {
			t.Errorf("%d processors, want %d", got, n)
		}
	}
	first := KeepProcs(before)
	want(before + 1)
	second := KeepProcs(3)
	want(before + 4)
	first()
	third := KeepProcs(before)
	want(before + 4)
	second()
	third()
	if procs.kept != 0 {
		t.Errorf("%d are still kept", procs.kept)
	}
}
