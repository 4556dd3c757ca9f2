package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dyno/internal/dynohome"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/view/labreport"
)

const compareNotes = `Each of A, B, C is a result, repeated runs of one thing, or an experiment:
  before.json, an ID, last    a result, as dyno report takes it
  DIR                         a folder of results: repeated runs
  last,before.json,ID         a list of results: repeated runs
  DIR, DIR:ARM                an experiment that was run, or one arm of it
All are compared with A. Experiments are compared arm by arm and level by level.
Arms of one experiment are compared in pairs, round by round, as it does itself;
any of them may be A.
Single results are set side by side; nothing can be concluded from them.
A measure is one of throughput, cpu and host_cpu (a request's, of the server and
of its machine), mean, p50, p75, p90, p95, p99, p99.9, max, memory and bytes; of
a scenario iterations (a second), iteration_p50, iteration_p99 and checks (%).
Exit codes: 0 done, 2 bad usage or a bad file; with --gate also 1 something is
different and worse, corrected for all that is compared, 3 inconclusive, single
results, or runs that cannot be relied on. Only an experiment can run again what
is worse to confirm it: its file's gate does.
`

// compareFlags is the command line of dyno compare.
type compareFlags struct {
	helpFlag
	metrics      []lab.Measure
	margin       experiment.Share
	gate         bool
	json, output string
}

func newCompareFlags() *compareFlags { return &compareFlags{margin: 0.02} }

func (f *compareFlags) groups() []group {
	return []group{{"Flags", []option{
		{"metrics", "", "LIST", "what is compared (throughput,p50,p99, and where they are known cpu,\n" +
			"iterations,iteration_p50,iteration_p99,checks,first_event_p50,\n" +
			"first_event_p99,gap_p99,events,tokens,goodput)",
			storeParsed(&f.metrics, parseMetrics)},
		{"margin", "", "P%", "a smaller difference does not matter (2%)", f.setMargin},
		{"gate", "", "", "exit 1 if something is worse, 3 if that cannot be said", setSwitch(&f.gate)},
		{"json", "", "FILE|-", "write the verdicts there too; with - stdout has nothing else",
			setText(&f.json)},
		{"output", "o", "FILE.md", "write the report there too, as Markdown", setText(&f.output)},
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

func (f *compareFlags) setMargin(s string) error { return f.margin.UnmarshalText([]byte(s)) }

func measureNames() (all []string) {
	for _, m := range lab.Measures {
		all = append(all, m.Name)
	}
	return all
}

// parseMetrics reads a list of measures' names.
func parseMetrics(s string) (all []lab.Measure, err error) {
	var faults []error
	for name := range strings.SplitSeq(s, ",") {
		i := slices.IndexFunc(lab.Measures, func(m lab.Measure) bool { return m.Name == name })
		had := slices.ContainsFunc(all, func(m lab.Measure) bool { return m.Name == name })
		switch {
		case i < 0:
			faults = append(faults, fmt.Errorf("%q is none of %s", name,
				strings.Join(measureNames(), ", ")))
		case had:
			faults = append(faults, fmt.Errorf("%q is there twice", name))
		default:
			all = append(all, lab.Measures[i])
		}
	}
	return all, errors.Join(faults...)
}

// compareRuns is dyno compare: it compares stored runs.
func compareRuns(s streams, args []string) int {
	f := newCompareFlags()
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("compare")
	}
	groups, faults := f.readGroups(p)
	if len(faults) > 0 {
		return s.refuseFlags("compare", faults)
	}
	u, err := judge.CompareGroups(groups, f.metrics, float64(f.margin))
	if err != nil {
		return s.refuseFlags("compare", []error{err})
	}
	if f.gate {
		u.DecideGate()
	}
	if err := f.writeComparison(s, u); err != nil {
		return s.failWith(exitUsage, fmt.Errorf("writing the comparison: %w", err))
	}
	switch {
	case u.Gate == nil || u.Gate.Verdict == lab.Passed:
		return exitOK
	case u.Gate.Verdict == lab.Regression:
		return s.failWith(exitMissed, fmt.Errorf("gate: %s", u.Gate.Explain()))
	}
	return s.failWith(exitUntrusted, fmt.Errorf("gate: %s", u.Gate.Explain()))
}

// readGroups reads everything that the words of a command line name.
func (f *compareFlags) readGroups(p parsed) (groups []judge.Group, faults []error) {
	faults = p.faults
	if n := len(p.words); n < 2 {
		faults = append(faults, fmt.Errorf("comparing needs two results or more; %d given", n))
	} else if n > judge.MostGroups {
		faults = append(faults, fmt.Errorf("comparing takes %d at most; %d given", judge.MostGroups, n))
	}
	if f.output != "" && !strings.EqualFold(filepath.Ext(f.output), ".md") {
		faults = append(faults, fmt.Errorf("--output: %q does not end in .md", f.output))
	}
	for _, w := range p.words {
		for _, to := range []struct{ flag, file string }{{"--json", f.json}, {"--output", f.output}} {
			if sameFile(to.file, w) {
				faults = append(faults, fmt.Errorf("%s: %s is what is compared; write to another file",
					to.flag, to.file))
			}
		}
		g, bad := openGroup(w)
		groups, faults = append(groups, g), append(faults, bad...)
	}
	return groups, faults
}

// openGroup reads what a word names. A file comes before anything else of that name.
func openGroup(w string) (judge.Group, []error) {
	info, err := os.Stat(w)
	dir, arm, named := splitArm(w)
	switch {
	case err == nil && info.IsDir():
		return openFolder(w)
	case err == nil:
	case named:
		g, err := judge.ReadGroup(w, dir, arm)
		return g, joinedErrors(err)
	}
	words := []string{w}
	if err != nil {
		words = strings.Split(w, ",")
	}
	rs, faults := openResults(words)
	for i, r := range rs {
		if r != nil {
			faults = append(faults, resultFaults(words[i], r)...)
		}
	}
	if len(faults) > 0 {
		return judge.Group{}, faults
	}
	return judge.GroupResults(w, rs), nil
}

// splitArm splits DIR:ARM after the shortest DIR that is a folder. An arm's name may contain a
// colon, and so may a folder's on Windows.
func splitArm(w string) (dir, arm string, ok bool) {
	for i := range len(w) - 1 {
		if w[i] != ':' {
			continue
		}
		if info, err := os.Stat(w[:i]); i > 0 && err == nil && info.IsDir() {
			return w[:i], w[i+1:], true
		}
	}
	return "", "", false
}

// openFolder reads an experiment's folder, or a folder of results. In the latter every file must be
// a result, because leaving one out silently would falsify the comparison.
func openFolder(dir string) (judge.Group, []error) {
	if lab.IsExperiment(dir) {
		g, err := judge.ReadGroup(dir, dir, "")
		return g, joinedErrors(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return judge.Group{}, []error{err}
	}
	var rs []*result.Result
	var faults []error
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" || strings.HasPrefix(e.Name(), ".") || e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		r, err := dynohome.Open("", path)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		faults = append(faults, resultFaults(path, r)...)
		rs = append(rs, r)
	}
	if len(rs)+len(faults) == 0 {
		faults = append(faults, fmt.Errorf("%q is a folder without results (*.json), and not that of "+
			"an experiment", dir))
	}
	return judge.GroupResults(dir, rs), faults
}

// writeComparison writes the comparison to stdout, unless the JSON goes there, and to the files
// that were given.
func (f *compareFlags) writeComparison(s streams, u *judge.Unpaired) error {
	encode := func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		e.SetEscapeHTML(false)
		return e.Encode(u)
	}
	markdown := func(w io.Writer) error { return labreport.UnpairedMarkdown(w, u) }
	err := errors.Join(writeFile(f.json, encode), writeFile(f.output, markdown))
	if f.json == "-" {
		return errors.Join(err, encode(s.out))
	}
	return errors.Join(err, labreport.Unpaired(s.out, u, s.reportStyle()))
}
