package versus

import (
	"cmp"
	"slices"
	"time"

	"dyno/internal/lab/experiment"
)

// Limits are how long the comparison may take, and what of it was chosen. What is zero is chosen
// here.
type Limits struct {
	Total     time.Duration    // of everything: checks, trials and report
	Precision experiment.Share // half width of intervals at which rounds suffice
	Rounds    int
	Window    time.Duration // of a trial
	Warmup    time.Duration // before the window; negative: none
}

// The default limits.
const (
	DefaultTotal   = 90 * time.Second
	PrecisionTotal = 15 * time.Minute // with a precision
	defaultWarmup  = 500 * time.Millisecond
)

// What things take that are no load, each measured on a busy machine of two CPUs.
const (
	checkTime  = 2 * time.Second // to start a server and to compare its answers
	otherTime  = 6 * time.Second // the generator's ceiling, and the report
	startTime  = 400 * time.Millisecond
	cooldown   = 100 * time.Millisecond
	enough     = 9    // rounds that find what one comparison alone would
	mostRounds = 100  // more of them need no shorter windows
	planned    = 0.95 // share of the time for rounds; the rest is for trials that are repeated
)

// windows are the lengths of a window to choose from, the longest that leaves enough rounds. In a
// shorter one nobody can say whether the generator was held up (result.Result.TooShort).
var windows = []time.Duration{5 * time.Second, 3 * time.Second, 2 * time.Second, time.Second}

// trialTime is how long a trial takes.
func trialTime(window, warm time.Duration) time.Duration {
	settling := min(500*time.Millisecond, window/4)
	return startTime + warm + settling + window + cooldown
}

// warmup is the load before each window.
func (l Limits) warmup() time.Duration {
	if l.Warmup == 0 {
		return defaultWarmup
	}
	return max(l.Warmup, 0)
}

// design is the design for so many variants. The time of all trials stays within the limit, unless
// that is too short for the fewest rounds that can show anything.
func (c *Comparison) design(variants int) experiment.Design {
	l := c.Limits
	warm, total := l.warmup(), l.Total
	switch {
	case total > 0:
	case l.Precision > 0:
		total = PrecisionTotal
	default:
		total = DefaultTotal
	}
	forTrials := total - time.Duration(variants)*checkTime - otherTime
	arms := time.Duration(variants + 1) // the baseline twice
	round := func(window time.Duration) time.Duration { return arms * trialTime(window, warm) }
	window, rounds := l.Window, l.Rounds
	for _, w := range windows {
		if fits := int(planned * float64(forTrials) / float64(round(w))); window == 0 &&
			(fits >= max(enough, rounds) || w == windows[len(windows)-1]) {
			window = w
		}
	}
	slow := arms * (time.Second + warm + window + cooldown) // as package experiment estimates a round
	least := experiment.LeastRounds * slow
	budget := (max(forTrials-round(window), least) + time.Second - 1).Truncate(time.Second)
	if rounds == 0 {
		fits := min(int(planned*float64(forTrials)/float64(round(window))), int(budget/slow)+1)
		rounds = min(max(fits, experiment.LeastRounds), mostRounds)
		if forTrials-round(window) < least {
			rounds = experiment.LeastRounds
		}
	}
	d := experiment.Default[experiment.Design]()
	d.Rounds, d.Metrics = rounds, c.metrics()
	d.Warmup.Min, d.Warmup.Max = rounded(warm), rounded(warm)
	d.Measure, d.Cooldown = rounded(window), rounded(cooldown)
	if c.Margin > 0 {
		d.Margin = c.Margin
	}
	if l.Rounds == 0 || l.Precision > 0 { // no round begins that the time does not suffice for
		d.Budget = experiment.Duration(budget)
	}
	if l.Precision > 0 {
		d.Precision, d.MaxRounds = l.Precision, 1000
		d.Rounds = max(l.Rounds, experiment.LeastRounds)
	}
	return d
}

// rounded is a time that is easy to read.
func rounded(d time.Duration) experiment.Duration {
	return experiment.Duration(d.Round(time.Millisecond))
}

// MostServers is how many servers the default time suffices for.
func MostServers() int {
	c, n := Comparison{Limits: Limits{Total: DefaultTotal}}, 2
	for c.Overrun(n+1) == 0 {
		n++
	}
	return n
}

// Overrun is about how long the fewest rounds of so many servers take, with all else, if that is
// more than the limit of time that was given; otherwise 0.
func (c *Comparison) Overrun(servers int) time.Duration {
	l, n := c.Limits, time.Duration(servers)
	trial := trialTime(cmp.Or(l.Window, windows[len(windows)-1]), l.warmup())
	isCommand := func(word string) bool { return !IsURL(word) }
	if len(c.Servers) > 0 && c.Git == nil && !slices.ContainsFunc(c.Servers, isCommand) {
		trial -= startTime // they are running
	}
	least := n*checkTime + otherTime + experiment.LeastRounds*(n+1)*trial
	if l.Total == 0 || l.Rounds > 0 || least <= l.Total {
		return 0
	}
	return least.Round(time.Second)
}

// metrics are the measures, that which decides first. Each costs the others some of their power.
func (c *Comparison) metrics() (all []experiment.Metric) {
	if c.startsServers() { // it depends least on what else the machine does
		all = append(all, "cpu")
	}
	streams := c.Workload.Stream.Format != ""
	switch {
	case c.Level.Rate == 0:
		all = append(all, "throughput")
	case streams:
		all = append(all, experiment.FirstEventP50)
	default:
		all = append(all, "p50")
	}
	if len(c.Workload.Goodput) > 0 {
		all = append(all, experiment.Goodput)
	}
	if all = append(all, c.tail()); streams {
		all = append(all, experiment.GapP99)
	}
	return all
}

// tail is the measure of the slowest requests.
func (c *Comparison) tail() experiment.Metric {
	if c.Workload.Stream.Format != "" {
		return experiment.FirstEventP99
	}
	return "p99"
}

// gated are the measures of a gate: that which decides first, and what the slowest requests take.
func (c *Comparison) gated(metrics []experiment.Metric) []experiment.Metric {
	return []experiment.Metric{metrics[0], c.tail()}
}
