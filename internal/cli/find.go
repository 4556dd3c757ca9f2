package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"dyno/internal/capacity"
	"dyno/internal/engine/data"
	"dyno/internal/engine/loadplan"
	"dyno/internal/fault"
	"dyno/internal/result"
	"dyno/internal/setting"
	"dyno/internal/view/format"
	"dyno/internal/view/report"
)

// findFlags is the command line of dyno find.
type findFlags struct {
	*runFlags
	probe  time.Duration
	axis   capacity.Axis
	start  int // of the axis, if that is no rate; 0: none is given
	levels []int
	rates  []loadplan.Rate
	rounds int
}

// probeTime is how long each rate or level is measured.
func (f *findFlags) probeTime() time.Duration {
	if f.isSweep() {
		return cmp.Or(f.probe, 5*time.Second)
	}
	return cmp.Or(f.probe, capacity.DefaultProbe)
}

func newFindFlags() *findFlags {
	return &findFlags{runFlags: newRunFlags(), rounds: 3, axis: capacity.Rates}
}

const findNotes = `A rate is met if the upper 95 % bound of a percentile is: of seconds drawn at
random, again and again, from those of the probe, and of as many requests as
there were. Objectives that have no such bound are judged by their value. Unless
an objective says how many requests may fail, errors<0.1% is one. N may end in k
or M; D is a duration, as 500ms or 1m30s, or a number of seconds.
Exit codes: 0 found, 1 not even the lowest rate meets the objectives, 2 bad usage,
3 the generator was the limit, inconclusive, every answer of a sweep was an error,
or an agent was lost, 4 nothing could be reached, 5 a fault of dyno,
130 interrupted, after the report.
`

var findExamples = []string{
	"dyno find --slo 'p99<20ms' http://127.0.0.1:8080/",
	"dyno find --slo 'p95<=50ms' --slo 'errors<=0' --arrival poisson -c 200 http://127.0.0.1:8080/",
	"dyno find --axis users --slo 'first_event.p99<300ms' --stream openai http://127.0.0.1:8080/",
	"dyno find --levels c=1,2,4,8,16,32 --rounds 8 http://127.0.0.1:8080/",
	"dyno find --rates 1k,2k,4k,8k http://127.0.0.1:8080/",
}

func (f *findFlags) groups() []group {
	all := f.readers()
	maps.Copy(all, readers{"axis": storeParsed(&f.axis, parseAxis),
		"probe-time": storeParsed(&f.probe, parseProbeTime),
		"levels":     storeParsed(&f.levels, parseLevels), "rates": storeParsed(&f.rates, parseRates),
		"rounds": storeParsed(&f.rounds, setting.Positive(setting.ParseInt))})
	return tableGroups(setting.Find, &f.plan, all)
}

// isSweep reports whether a sweep was requested, and not a search.
func (f *findFlags) isSweep() bool { return len(f.levels)+len(f.rates) > 0 }

// findCapacity is dyno find.
func findCapacity(s streams, args []string) int {
	f, faults := readFind(args, s.in)
	switch {
	case f.help:
		return s.printHelp("find")
	case len(faults) > 0:
		return s.refuseFlags("find", faults)
	}
	out, err := openOutput(f.json, s.out)
	if err != nil {
		return s.refuseFlags("find", []error{loadplan.Flaw{Setting: "--json", Problem: fault.Text(err)}})
	}
	if err := s.releaseScript(f.runFlags); err != nil {
		out.closeUnwritten()
		return s.writeExitCode(err)
	}
	ctx, stop := untilInterrupted()
	defer stop()
	run, leave, err := f.fleet.fleetRunner(runHere, s.fleetReporter(f.quiet))
	if err != nil {
		out.closeUnwritten()
		return s.failWith(busExitCode(err), err)
	}
	defer leave()
	carryOut := s.searchRate
	if f.isSweep() {
		carryOut = s.sweepLevels
	}
	run = f.scriptRunner(completingRunner(wholeRunner(run), f.planReplacer()))
	code, err := carryOut(ctx, f, run, out)
	if err == nil {
		return code
	}
	out.closeUnwritten()
	if errors.Is(err, errPartial) {
		return s.failWith(exitUntrusted, err)
	}
	if _, flaw := errors.AsType[loadplan.Flaw](err); flaw {
		return s.refuseFlags("find", joinedErrors(err))
	}
	return s.failWith(exitFault, err)
}

// readFind reads the command line of dyno find.
func readFind(args []string, stdin io.Reader) (*findFlags, []error) {
	f := newFindFlags()
	p := parseOptions(args, f.groups())
	if f.help {
		return f, nil
	}
	faults := append(p.faults, contradictions(p.given)...)
	f.script.takeArgs(&p)
	faults = append(faults, f.takeHurl(&p)...)
	faults = append(append(faults, f.ownFaults(p)...), f.readFilling(p.given)...)
	f.setDefaults(p.given)
	f.setAxis(p.given)
	if !p.given["warmup"] {
		f.plan.Warmup = capacity.DefaultWarmup(f.probeTime())
	}
	faults = append(append(faults, f.fleet.setGiven(p.given, false)...), f.setTarget(p)...)
	wrong := f.textFaults(p)
	var more []error
	f.plan.Requests, more = f.readRequests(stdin)
	f.plan.Environment = f.filling.taken
	if len(f.plan.Requests) == 0 {
		f.plan.Requests = []loadplan.Request{{Weight: 1}}
	}
	wrong = f.setUsersWork(append(wrong, more...), p.given)
	faults = append(faults, wrong...)
	faults = append(faults, f.planMarkFaults()...)
	plan := f.plan // the largest plan that will be run
	if plan.Rate == 0 && f.axis == capacity.Rates {
		plan.Rate = loadplan.RatePerSecond(1)
	}
	if f.axis != capacity.Rates {
		plan.Connections = max(plan.Connections, 1)
	}
	if len(f.levels) > 0 {
		plan.Connections = slices.Max(f.levels)
	}
	faults = slices.Concat(faults, joinedErrors(plan.Check()), f.conflictFaults())
	return f, f.setScriptUnless(append(faults, f.unusedFaults(faults)...))
}

// ownFaults are the faults of flags that only find has.
func (f *findFlags) ownFaults(p parsed) (faults []error) {
	given := p.given
	flaw := func(bad bool, setting, problem string) {
		if bad {
			faults = append(faults, loadplan.Flaw{Setting: setting, Problem: problem})
		}
	}
	sweep := p.tried["levels"] || p.tried["rates"]
	flaw(f.filling.order == data.Once, "--data-order", "once needs a number of requests, which no "+
		"search and no sweep has; give in-order, random or per-user, or dyno run -n N")
	flaw(!sweep && !p.tried["slo"], "--slo", "none is given; say what must hold, as "+
		"--slo 'p99<20ms', or sweep with --levels or --rates")
	flaw(sweep && given["slo"], "--slo", "a sweep has no objective; leave it out, or search with "+
		"--axis connections in place of --levels")
	flaw(sweep && given["axis"], "--axis", "--levels and --rates say what is varied; leave it out")
	closed := f.axis != capacity.Rates && !sweep
	flaw(closed && (given["rate"] || given["arrival"]), "--rate, --arrival", string(f.axis)+" are "+
		"searched in a closed loop, which has no arrivals; leave --axis or these out")
	flaw(p.tried["levels"] && p.tried["rates"], "--levels and --rates", "a sweep has one axis; give "+
		"one")
	flaw(sweep && given["rate"], "--rate", "a sweep has rates of its own; give --rates")
	flaw(given["levels"] && (given["arrival"] || given["seed"]), "--arrival, --seed",
		"the levels of --levels are closed loops, which have no arrivals; give --rates")
	flaw(given["levels"] && given["connections"], "--connections", "--levels says how many")
	flaw(!sweep && given["rounds"], "--rounds", "a search has none; give --levels or --rates")
	for _, o := range f.objectives {
		flaw(!o.HarderWithLoad(), "--slo", o.Expr+" is easier to meet with more load; find needs "+
			"what is harder, as p99<20ms, errors<1% or good>95%")
	}
	return faults
}

// setAxis makes the plan one of the axis: the number that is searched, if it is given, is the first
// to be tried, and users have a connection each, unless -c says how many there are.
func (f *findFlags) setAxis(given map[string]bool) {
	switch f.axis {
	case capacity.Connections:
		if given["connections"] {
			f.start = f.plan.Connections
		}
		f.plan.Connections = 0
	case capacity.Users:
		if f.start, f.plan.Users = f.plan.Users, 0; !given["connections"] {
			f.plan.Connections = 0
		}
	}
}

// parseAxis reads what a search varies.
func parseAxis(s string) (capacity.Axis, error) {
	if !slices.Contains(capacity.Axes, s) {
		return "", fmt.Errorf("%q is not %s", s, strings.Join(capacity.Axes, ", "))
	}
	return capacity.Axis(s), nil
}

// searchRate is dyno find --slo.
func (s streams) searchRate(ctx context.Context, f *findFlags, run result.Runner, out *output) (int,
	error) {
	settings := capacity.Settings{Axis: f.axis, Start: float64(f.start), Probe: f.probeTime()}
	if !f.quiet {
		usual, most := settings.Times(&f.plan)
		fmt.Fprintf(s.err, "searching: %s, about %v if every probe decides, at most %v\n",
			f.plan.Target.URL, usual.Round(time.Second), most.Round(time.Minute))
	}
	told := f.probe == 0 // it is the default
	found, err := capacity.Find(ctx, run, f.plan, f.objectives,
		settings, func(p capacity.Probe) {
			longer := p.Measured > 1.05*f.probe.Seconds() && p.Purpose == capacity.Trial
			if longer && !told {
				told = true
				s.writeLine("dyno: at %s a probe takes %s, longer than --probe-time: bounds of a percentile "+
					"take so many requests", report.LevelText(p), format.Seconds(p.Measured))
			}
			if !f.quiet {
				s.writeLine("%s", report.ProbeLine(p))
			}
		})
	if err != nil {
		return 0, err
	}
	code := map[capacity.End]int{capacity.Found: exitOK, capacity.Missed: exitMissed,
		capacity.ClientBound: exitUntrusted, capacity.Inconclusive: exitUntrusted,
		capacity.Unreachable: exitUnreachable, capacity.Interrupted: exitInterrupted}[found.End]
	code = s.showFinding(f, out, code, found, report.CertifiedText(found), func() error {
		return report.Search(s.out, found, s.reportStyle())
	})
	if code != exitOK && !(s.showsReport(f.runFlags) && !f.quiet) {
		s.writeLine("dyno: %s", found.Reason)
	}
	return code, nil
}

// sweepLevels is dyno find --levels and --rates.
func (s streams) sweepLevels(ctx context.Context, f *findFlags, run result.Runner,
	out *output) (int, error) {
	how := capacity.Sweeping{Axis: capacity.Rates, Time: f.probeTime(),
		Rounds: f.rounds, Seed: cmp.Or(f.plan.Seed, rand.Uint64()>>11|1)}
	for _, r := range f.rates {
		how.Levels = append(how.Levels, r.PerSecond())
	}
	for _, n := range f.levels {
		how.Axis, how.Levels = capacity.Connections, append(how.Levels, float64(n))
	}
	if !f.quiet {
		all := len(how.Levels) * how.Rounds
		fmt.Fprintf(s.err, "sweeping: %s, %s, about %v\n", f.plan.Target.URL,
			format.Plural(int64(all), "run"), time.Duration(all)*(how.Time+time.Duration(f.plan.Warmup)))
	}
	curve, err := capacity.Sweep(ctx, run, f.plan, how, func(p capacity.Point) {
		if !f.quiet {
			s.writeLine("%s", report.PointLine(p, how.Axis))
		}
	})
	if err != nil {
		return 0, err
	}
	code, why := sweepExitCode(curve)
	code = s.showFinding(f, out, code, curve, report.PeakText(curve), func() error {
		return report.Curve(s.out, curve, s.reportStyle())
	})
	if why != "" {
		s.writeLine("dyno: %s", why)
	}
	return code, nil
}

// sweepExitCode is the exit code of a sweep, with the reason if it is not 0.
func sweepExitCode(c *capacity.Curve) (int, string) {
	completed := func(p capacity.Point) bool { return p.X > 0 }
	answered := func(p capacity.Point) bool { return p.Answered }
	switch {
	case c.Left > 0:
		return exitInterrupted, ""
	case !slices.ContainsFunc(c.Points, completed) && slices.ContainsFunc(c.Points, answered):
		return exitUntrusted, c.Points[slices.IndexFunc(c.Points, answered)].Cause
	case !slices.ContainsFunc(c.Points, completed):
		return exitUnreachable, c.Points[0].Cause
	case c.Apart == len(c.Points):
		return exitUntrusted, "the generator was the limit, or was held up, at every level"
	}
	return exitOK, ""
}

// showFinding writes v as JSON if that was requested, and shows it: as a line with --quiet,
// otherwise completely. It returns code, unless writing fails.
func (s streams) showFinding(f *findFlags, out *output, code int, v any, line string,
	show func() error) int {
	err := out.writeObject(v)
	switch {
	case f.json == "-":
	case f.quiet:
		_, more := fmt.Fprintln(s.out, line)
		err = errors.Join(err, more)
	default:
		err = errors.Join(err, show())
	}
	if err != nil {
		return s.failWith(exitUsage, fmt.Errorf("writing what was found: %w", err))
	}
	return code
}

// writeObject writes v as JSON.
func (o *output) writeObject(v any) error {
	return o.writeContent(func(w io.Writer) error { return report.IndentedJSON(w, v) })
}

// levelsMost is how many levels a sweep can have.
const levelsMost = 1000

// parseLevels parses c=1,2,4: numbers of connections, each once.
func parseLevels(s string) ([]int, error) {
	list, is := strings.CutPrefix(s, "c=")
	if !is {
		return nil, fmt.Errorf("%q does not say of what; write c= and numbers of connections, as "+
			"c=1,2,4,8", s)
	}
	return parseList(list, func(s string) (int, error) {
		n, err := setting.Positive(setting.ParseInt)(s)
		if err == nil && n > loadplan.MaxConnections {
			err = fmt.Errorf("%q is above %d", s, loadplan.MaxConnections)
		}
		return n, err
	})
}

// parseRates parses 1k,2k,4k: rates, each once.
func parseRates(s string) ([]loadplan.Rate, error) { return parseList(s, setting.ParseRate) }

// parseList parses values separated by commas, each of which may occur once.
func parseList[V comparable](s string, parse func(string) (V, error)) (all []V, err error) {
	for part := range strings.SplitSeq(s, ",") {
		v, err := parse(part)
		switch {
		case err != nil:
			return nil, err
		case slices.Contains(all, v):
			return nil, fmt.Errorf("%q is there twice", part)
		case len(all) == levelsMost:
			return nil, fmt.Errorf("there are more than %d levels", levelsMost)
		}
		all = append(all, v)
	}
	return all, nil
}

// shortestProbe is the shortest time in which anything can be measured.
const shortestProbe = 100 * time.Millisecond

func parseProbeTime(s string) (time.Duration, error) {
	d, err := setting.ParseDuration(s)
	if err == nil && d < shortestProbe {
		err = fmt.Errorf("%q is below %v", s, shortestProbe)
	}
	return d, err
}
