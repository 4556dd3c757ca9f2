package workload

import (
	"strings"
	"testing"
	"time"

	"dyno/internal/lab/experiment"
)

// The answers of a trial are waited for behind its warm-up and behind its window: of streams for longer, of requests no
// longer than their timeout.
func TestDrainTime(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want time.Duration
	}{
		"requests":             {"", 3 * time.Second},
		"without a warm-up":    {"design: {warmup: {min: 0, max: 0}}\n", 2 * time.Second},
		"a short timeout":      {"levels: [{connections: 1, timeout: 100ms}]\n", 200 * time.Millisecond},
		"who is not known yet": {"workload: {auth: digest, user: '{{env \"DYNO_NONE\"}}'}\n", 3 * time.Second},
		"streams":              {"workload: {stream: {format: sse}}\n", time.Minute},
	} {
		e, err := experiment.Read("x.yaml", strings.NewReader("version: 1\nname: x\nvariants: {a: {url: http://127.0.0.1:1/}}\n"+c.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := DrainTime(e, e.Levels[0]); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
