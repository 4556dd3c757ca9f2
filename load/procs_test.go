package load

import (
	"runtime"
	"testing"
)

// Each worker of each load has a processor of its own, the others have one, and all is as
// it was when the last load is over.
func TestKeepProcs(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	want := func(n int) {
		t.Helper()
		if got := runtime.GOMAXPROCS(0); got != max(n, before) {
			t.Errorf("%d processors, want %d", got, max(n, before))
		}
	}
	first := keepProcs(before)
	want(before + 1)
	second := keepProcs(3)
	want(before + 4)
	first()
	want(4)
	second()
	want(before)
}
