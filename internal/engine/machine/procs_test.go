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
	first := KeepProcs(before, true)
	want(before + 1)
	second := KeepProcs(3, true)
	want(before + 4)
	first()
	third := KeepProcs(before, true)
	want(before + 4)
	second()
	third()
	if KeepProcs(before+4, false) != nil {
		t.Error("more were kept than there are")
	}
	want(before + 4)
	KeepProcs(before+3, false)()
	if procs.kept != 0 {
		t.Errorf("%d are still kept", procs.kept)
	}
}
