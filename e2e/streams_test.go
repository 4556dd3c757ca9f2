//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"dyno/internal/result/durations"
)

// A served is a stream as its server logged it.
type served struct {
	arrived int64
	events  []int64 // when each was written
}

// servedStreams reads the log of a target, by stream.
func servedStreams(t *testing.T, file string) map[string]*served {
	t.Helper()
	all := map[string]*served{}
	for _, row := range targetLog(t, file) {
		number := func(i int) int64 {
			n, err := strconv.ParseInt(row[i], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if all[row[0]] == nil {
			all[row[0]] = &served{arrived: number(1)}
		}
		s := all[row[0]]
		if s.events = append(s.events, number(3)); number(2) != int64(len(s.events)) {
			t.Fatalf("stream %s: event %d follows %d", row[0], number(2), len(s.events)-1)
		}
	}
	return all
}

// Of each protocol and format dyno sees every event that its server logged, and none before it was
// written: what the server took is in what dyno measured, however busy the machine is.
func TestStreamsAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	const streams, events = 60, 20
	for _, c := range []struct {
		name, format, scheme string
		args                 []string
	}{
		{"HTTP/1.1", "openai", "", []string{"-c", "10"}},
		{"HTTP/2", "sse", "h2c", []string{"-c", "2", "--streams", "5"}},
		{"open", "ollama", "", []string{"-R", "40", "-c", "20"}},
		{"anthropic", "anthropic", "", []string{"-c", "10", "--ring", "portable"}},
		{"lines", "ndjson", "", []string{"-c", "10", "--data", "DATA", "-b", "{{a}}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "served.csv")
			server := startTarget(t, "--stream", c.format, "--first", "exponential:20ms",
				"--gap", "exponential:5ms", "--events", strconv.Itoa(events), "--log", log)
			url := server.url + "/"
			if c.scheme != "" {
				url = c.scheme + url[len("http"):]
			}
			rows := filepath.Join(t.TempDir(), "rows.csv")
			if err := os.WriteFile(rows, []byte("a\n1\n2\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append(slices.Clone(c.args), "--stream", c.format, "-n", strconv.Itoa(streams), "--drain", "1m", url)
			if i := slices.Index(args, "DATA"); i >= 0 {
				args[i] = rows
			}
			r := runDyno(t, 0, args...).result
			checkFlawless(t, r, streams, "200")
			if n := server.stopCounting(t); n != streams {
				t.Errorf("the server counts %d streams", n)
			}
			checkStream(t, r.Stream.First, r.Stream.Gap, servedStreams(t, log))
			s := r.Stream
			told := map[string]int64{"openai": events, "anthropic": events, "ollama": events}[c.format] * streams
			if s.Counted != streams*events || s.Tokens != told || s.Arrivals > s.Counted ||
				s.First.Count != streams || s.Gap.Count != s.Arrivals-streams {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A script makes the requests of streams. They are measured as others, and response has each at its
// end, with all of its events.
func TestStreamsOfAScript(t *testing.T) {
	t.Parallel()
	server := startTarget(t, "--stream", "openai", "--gap", "constant:1ms", "--events", "5")
	file := filepath.Join(t.TempDir(), "chat.lua")
	if err := os.WriteFile(file, []byte(`
function request() return wrk.format("POST", "/chat", nil, "hello") end
function response(status, headers, body)
	local _, events = body:gsub('"content"', "")
	dyno.check("whole", status == 200 and events == 5 and body:find("%[DONE%]") ~= nil)
end`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := runDyno(t, 0, "-n", "8", "-c", "2", "--drain", "1m", "--stream", "openai", "--script", file, server.url).result
	checkFlawless(t, r, 8, "200")
	if s := r.Stream; s.Counted != 40 || s.Tokens != 40 || s.First.Count != 8 || len(r.Checks) != 1 || r.Checks[0].Passed != 8 {
		t.Errorf("%+v, checks %+v", s, r.Checks)
	}
}

// checkStream compares first events with the server's log: none is shorter than there, and together
// with the gaps they are as long as there, or longer, at each quantile that both have.
func checkStream(t *testing.T, first, gap *durations.Distribution, log map[string]*served) {
	t.Helper()
	var firsts []float64
	whole := 0.0 // from arrivals to the last events
	for _, s := range log {
		firsts = append(firsts, float64(s.events[0]-s.arrived)/1e3)
		whole += float64(s.events[len(s.events)-1]-s.arrived) / 1e3
	}
	slices.Sort(firsts)
	for _, q := range []struct{ percent, us float64 }{{50, first.P50}, {90, first.P90}} {
		least := firsts[int(q.percent/100*float64(len(firsts)))-1]
		if q.us < 0.995*least {
			t.Errorf("p%v of first events is %.0f µs, and the server's %.0f", q.percent, q.us, least)
		}
	}
	sum := first.Mean*float64(first.Count) + gap.Mean*float64(gap.Count)
	if sum < 0.995*whole {
		t.Errorf("first events and gaps are %.0f µs in all, and the server's %.0f", sum, whole)
	}
}
