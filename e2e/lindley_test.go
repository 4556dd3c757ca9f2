//go:build linux

package e2e

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dyno/internal/result"
)

// What dyno measures of a queue is what it must be. The server is one worker that
// answers first come, first served, and logs how long it served each request; when
// requests were due follows from the seed. So the latency of each is known exactly, by
// Lindley's recursion: it waits for what is left of those before it, and is served.
//
// The server sleeps while it serves, and the next service begins when the last should
// have ended: delays of the machine do not add up, but they are in each request's
// latency once. So no machine makes a latency shorter than it truly is, and a busy one makes some
// longer. Both programs go before all others where that is permitted, and a run of which something
// is longer is repeated: a generator that measures wrongly is off in each. Runs that dyno's own
// verdict calls disturbed say nothing.
func TestLindley(t *testing.T) {
	const attempts, trusted, meanMS, seconds = 8, 3, 20, 5
	for _, law := range []string{"constant", "exponential"} {
		for _, percent := range []int{50, 70, 85} {
			t.Run(fmt.Sprintf("%s, %d %%", law, percent), func(t *testing.T) {
				t.Parallel()
				wrong := 0
				for seed := uint64(1); seed <= attempts && wrong < trusted; seed++ {
					rate := float64(percent) / 100 * 1000 / meanMS
					truth, r := runQueue(t, law, meanMS, rate, seconds, seed)
					shorter, longer := compareQuantiles(truth, r)
					if shorter != "" {
						t.Errorf("shorter than it was: %s", shorter)
					}
					if longer == "" {
						return
					}
					t.Logf("attempt %d: %s; the generator: %s", seed, longer, r.Generator.Verdict)
					if r.Generator.Verdict == result.OK {
						wrong++
					}
				}
				if wrong == trusted {
					t.Errorf("longer in %d runs in which the generator was not disturbed", wrong)
				}
			})
		}
	}
}

// highPriority returns a prefix of commands that gives a program priority over others, in Linux's
// real-time class, or nothing if that is not permitted. Programs of the class take turns (rr),
// because a thread may spin until another thread of its program has run.
func highPriority() []string {
	chrt := []string{"chrt", "--rr", "1"}
	if exec.Command(chrt[0], append(chrt[1:], "true")...).Run() != nil {
		return nil
	}
	return chrt
}

// runQueue loads a queue with Poisson arrivals. It returns the true latencies, in µs and
// ascending, and what dyno measured.
func runQueue(t *testing.T, law string, meanMS, rate float64, seconds int,
	seed uint64) (truth []float64, r *result.Result) {
	dir := t.TempDir()
	log, file := filepath.Join(dir, "served.csv"), filepath.Join(dir, "result.json")
	program := append(highPriority(), binary)
	server := startServer(t, append(slices.Clip(program), "target", "--listen", "127.0.0.1:0", "--workers", "1",
		"--service", fmt.Sprintf("%s:%vms", law, meanMS), "--log", log))
	args := append(slices.Clip(program), runArgs(file, []string{"-t", "1", "-c", "100", "-R",
		strconv.FormatFloat(rate, 'f', -1, 64), "-d", fmt.Sprintf("%ds", seconds), "--drain", "20s",
		"--arrival", "poisson", "--seed", strconv.FormatUint(seed, 10), server.url})...)
	r = startCommand(t, file, exec.Command(args[0], args[1:]...)).waitForExit().expectExit(t, 0).result
	server.stopCounting(t)
	served, due := serviceTimes(t, log), poissonArrivals(seed, rate, float64(seconds))
	checkFlawless(t, r, int64(len(due)), "200")
	if len(served) != len(due) {
		t.Fatalf("%d services of %d requests that were due", len(served), len(due))
	}
	free := 0.0 // when the worker has done all so far
	for i, at := range due {
		free = max(free, at) + served[i]
		truth = append(truth, (free-at)*1e6)
	}
	slices.Sort(truth)
	return truth, r
}

// targetLog are the lines of a target's log.
func targetLog(t *testing.T, file string) [][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// serviceTimes returns the service times of a target's log, in seconds, in the order in which
// they began.
func serviceTimes(t *testing.T, file string) (all []float64) {
	t.Helper()
	rows := targetLog(t, file)
	type service struct{ start, long int64 }
	var services []service
	for _, row := range rows {
		start, err := strconv.ParseInt(row[1], 10, 64)
		long, bad := strconv.ParseInt(row[2], 10, 64)
		if err != nil || bad != nil || row[3] != "/" {
			t.Fatalf("%q: %v, %v", row, err, bad)
		}
		services = append(services, service{start, long})
	}
	slices.SortFunc(services, func(a, b service) int { return int(a.start - b.start) })
	for _, s := range services {
		all = append(all, float64(s.long)/1e9)
	}
	return all
}

// poissonArrivals returns the instants of a Poisson process, in seconds: those of --seed and
// --arrival poisson on one thread.
func poissonArrivals(seed uint64, rate, seconds float64) (all []float64) {
	coin := rand.New(rand.NewPCG(seed, 0))
	for at := coin.ExpFloat64() / rate; at < seconds; at += coin.ExpFloat64() / rate {
		all = append(all, at)
	}
	return all
}

// compareQuantiles returns what is more than 5 % shorter or longer than the truth; "" if nothing is.
func compareQuantiles(truth []float64, r *result.Result) (shorter, longer string) {
	sum := 0.0
	for _, v := range truth {
		sum += v
	}
	at := func(q float64) float64 {
		return truth[max(int(q*float64(len(truth))+0.5), 1)-1] // as HdrHistogram rounds
	}
	var below, above []string
	for _, c := range []struct {
		name      string
		got, want float64
	}{{"mean", r.Latency.Mean, sum / float64(len(truth))}, {"p50", r.Latency.P50, at(0.5)},
		{"p99", r.Latency.P99, at(0.99)}} {
		said := fmt.Sprintf("%s %.0f µs, truly %.0f", c.name, c.got, c.want)
		switch {
		case c.got < 0.95*c.want:
			below = append(below, said)
		case c.got > 1.05*c.want:
			above = append(above, said)
		}
	}
	return strings.Join(below, ", "), strings.Join(above, ", ")
}
