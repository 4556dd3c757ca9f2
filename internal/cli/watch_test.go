package cli

import (
	"testing"
	"time"

	"dyno/internal/observe/probe"
)

// A machine that cannot be watched, and an agent that cannot be reached, are an error and no
// fault of dyno.
func TestNothingCanBeWatched(t *testing.T) {
	t.Setenv("DYNO_HOME", t.TempDir())
	f := runFlags{away: awayFlags{agent: "nobody", processes: []string{"nginx"}}}
	w, err := beginWatch(t.Context(), &f, probe.Config{Every: time.Nanosecond})
	if err == nil || w.sampler != nil {
		t.Errorf("watches %+v, %v", w, err)
	}
}
