//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"dyno/bench/streams/served"
)

// Of a tool's CPU time counts what it took from its first stream to the end of the last: not the
// start, not a request that came before the load, and not the report.
func TestUsageOfALoad(t *testing.T) {
	at := func(begun, ended int64, cpu float64) used {
		return used{served.Counts{Begun: begun, Ended: ended}, cpu}
	}
	u := usage{at(0, 0, 1), at(0, 0, 5), at(1, 0, 6), at(1, 1, 7), at(6, 2, 9), at(11, 10, 20),
		at(11, 11, 21), at(11, 11, 30)}
	for _, c := range []struct {
		u     usage
		first int64
		want  float64
	}{{u, 0, 16}, {u, 1, 14}, {u[:6], 1, 13}, {nil, 0, 0}} {
		if got := c.u.between(c.first, 11); got != c.want {
			t.Errorf("%v s after %d streams, want %v", got, c.first, c.want)
		}
	}
}

// What tools write is read in ms.
func TestReadings(t *testing.T) {
	for _, c := range []struct{ name, file, text string }{
		{"dyno", "result.json", `{"requests": {"completed": 7}, "stream": {"first_event":
			{"p50_us": 1500, "p99_us": 2500}}}`},
		{"aiperf", "profile_export_aiperf.json", `{"request_count": {"unit": "requests", "avg": 7.0},
			"time_to_first_token": {"unit": "ms", "p50": 1.5, "p99": 2.5}}`},
		{"guidellm", "out.json", `{"benchmarks": [{"metrics": {"request_totals": {"successful": 7},
			"time_to_first_token_ms": {"successful": {"percentiles": {"p50": 1.5, "p99": 2.5}}}}}]}`},
		{"vllm", "result.json", `{"completed": 7, "p50_ttft_ms": 1.5, "p99_ttft_ms": 2.5}`},
		{"k6", "result.json", `{"metrics": {"iterations": {"count": 7, "rate": 1},
			"http_req_waiting": {"p(50)": 1.5, "p(99)": 2.5}}}`},
	} {
		l := load{dir: t.TempDir(), requests: 7}
		if err := os.WriteFile(filepath.Join(l.dir, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			if tool.name != c.name {
				continue
			}
			got, err := tool.read(l)
			if want := (reading{1.5, 2.5, 7}); err != nil || got != want {
				t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, want)
			}
		}
	}
}
