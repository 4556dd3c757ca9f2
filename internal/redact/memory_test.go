package redact

import (
	"bytes"
	"runtime"
	"testing"
)

// A long body is marked without a copy of it.
func TestLongBodyIsNotCopied(t *testing.T) {
	body := bytes.Repeat([]byte{0}, 64<<20)
	marks := Marks(func() []byte { return []byte("key") })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	kept := marks.Body("", body)
	runtime.ReadMemStats(&after)
	if !IsMark(string(kept)) {
		t.Errorf("%.100q is no mark", kept)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}
