// Package cli is the terminal: verbs, flags, help, progress and exit codes.
// Nothing else knows of them, and it does nothing else: it reads a command
// line into a plan, hands that to the package that carries it out, such as load,
// fleet or lab/run, and what comes back to the views.
//
// stdout carries results, stderr everything said on the way to them. Whatever
// is wrong with a command line is said at once, all of it, before anything is
// sent.
//
//	abort.go            judges a run's objectives; ends one that will miss them
//	affinity_linux.go   runs on given CPUs; affinity_other.go
//	agent.go            dyno agent
//	calibrate.go        dyno calibrate; the generator in this process (generateLoad)
//	chart.go            dyno chart
//	cli.go              Main; the table of verbs
//	compare.go          dyno compare
//	completion.go       dyno completion; flags and verbs by their names
//	conflicts.go        flags that contradict each other
//	files.go            reads files that flags name
//	find.go             dyno find, sweeps
//	finding.go          a stored search or sweep, shown again
//	flagnames.go        faults of a plan in the words of the command line
//	flags.go            the flags of a load, and the plan that they make
//	fleet.go            dyno fleet up, token, revoke, stop, key
//	fleetbus.go         connects to a fleet's bus; logs there what was loaded
//	fleetdeploy.go      dyno fleet deploy
//	fleetlist.go        dyno fleet list
//	fleetrun.go         --fleet, --on-loss: a run, a search, an experiment by agents
//	from.go             dyno from
//	help.go             dyno help, --help
//	history.go          dyno history, import, export
//	historyrm.go        dyno history rm, gc
//	lab.go              dyno lab run, rerun, list; how an experiment ends: report, exit code
//	labcheck.go         dyno lab check
//	labimported.go      --imported: an experiment that others wrote
//	labinit.go          dyno lab init
//	laborder.go         experiments that the dashboard starts
//	labprogress.go      progress of an experiment
//	labrounds.go        --rounds
//	labshow.go          dyno lab show
//	liveout.go          --metrics, --json-stream
//	manual.go           manual pages
//	nearest.go          which flag was probably meant
//	oldflags.go         flags of other tools, and what they are called here
//	options.go          reads a command line; tells all faults at once; how values of flags are
//	                    set
//	outlet.go           guards the terminal against texts of others
//	output.go           files that are written whole or not at all
//	output_unix.go      who owns such a file; output_other.go
//	peers.go            dyno wrk, ab, hey, …: reads their flags
//	peertables.go       dyno wrk, ab, hey, …: what each of their flags means
//	progress.go         the line of progress
//	requestlog.go       --log
//	results.go          dyno report, schema; which formats results have
//	run.go              dyno run: carries out a plan, stores and shows its result; exit codes
//	saveerrors.go       --save-errors
//	scenario.go         dyno scenario check, run
//	scenariolua.go      dyno scenario check, run for scripts
//	scenarioshown.go    dyno scenario run: shows the steps
//	script.go           --script
//	searchpath.go       where programs are looked for
//	secrets.go          stand-ins for secrets: --show-secrets, --secret
//	sent.go             headers, bodies, forms: what is sent
//	serve.go            dyno serve; the form of a load: its fields, read as flags
//	session.go          a Hurl file as a load; which flags may stand beside it: setting/clashes.go
//	stages.go           --stages
//	tableflags.go       the flags that the table of settings has
//	target.go           dyno target
//	tui.go              --tui: keys and the terminal; package screen draws
//	unused.go           variables and columns that nothing uses
//	values.go           --data, --variable, --variables-file: values for the holes of requests
//	version.go          dyno version
//	vs.go               dyno vs
//	vsflags.go          dyno vs: its flags
//	vsform.go           dyno vs: its form in the dashboard
//	vsprogress.go       dyno vs: its progress
//	vsquotes.go         dyno vs: commands that lack their quotes
//	watch.go            --watch, --pprof
//	watchagent.go       --watch NAME@AGENT
//	watchlistener.go    --watch NAME: which of several processes
//	weight.go           --weight of an agent
package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/fault"
	"dyno/internal/nearest"
	"dyno/internal/say"
	"dyno/internal/setting"
	"dyno/internal/view/format"
)

// streams are the standard streams.
type streams struct {
	in       io.Reader
	out, err io.Writer
	failed   *string // takes the last error that was reported; nil: nothing does
}

// Main carries out args, a command line without the program's name, and returns the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	s := newOutlets(stdin, stdout, stderr)
	log.SetOutput(s.err) // messages of libraries
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.err, "%s\ndyno: %v\n"+
				"This is a fault of dyno %s. Please report it, with the lines above.\n",
				debug.Stack(), p, loadplan.Version)
			code = exitFault
		}
	}()
	if len(args) == 0 {
		printOverview(s.err)
		return exitUsage
	}
	name, rest := args[0], args[1:]
	if len(rest) > 0 {
		if v, found := findVerb(name + " " + rest[0]); found {
			name, rest = v.name, rest[1:]
		}
	}
	if home, err := dynohome.Dir(); err == nil {
		dynohome.Tighten(home)
	}
	if v, found := findVerb(name); found {
		if len(rest) == 1 && (rest[0] == "-h" || rest[0] == "--help") {
			return s.printHelp(v.name)
		}
		return v.run(s, rest)
	}
	if isFamily(name) {
		return s.printVerbs(name, rest)
	}
	if run := hidden[name]; run != nil {
		return run(s, rest)
	}
	if strings.HasPrefix(name, "-") || strings.ContainsAny(name, ":/.") {
		return runLoad(s, args) // dyno URL
	}
	return s.refuseVerb(name)
}

// A verb is a command of dyno.
type verb struct {
	name, args, does string
	run              func(s streams, args []string) int
	groups           func() []group // of options, for the help
	begin            string         // text of the help above the options
	more             string         // text of the help below the options
	examples         []string       // a test runs each of them
}

func findVerb(name string) (verb, bool) {
	aliases := map[string]string{
		"-h": "help", "--help": "help", "-V": "version", "--version": "version",
	}
	if full, is := aliases[name]; is {
		name = full
	}
	for _, v := range verbs() {
		if v.name == name {
			return v, true
		}
	}
	return verb{}, false
}

// hidden are verbs that only dyno itself uses.
var hidden = map[string]func(s streams, args []string) int{
	"supervise": superviseServers, "worker": runWorker, "conduct": conductExperiment,
	"complete": completeWord, "man": writeManual}

func verbs() []verb {
	return slices.Concat(loadVerbs(), fromVerbs(), peerVerbs(), fleetVerbs(), resultVerbs())
}

// isFamily reports whether a word is the first of verbs of two.
func isFamily(word string) bool {
	return slices.Contains([]string{"lab", "fleet", "from", "scenario"}, word)
}

// loadVerbs are the verbs that make load, or receive it.
func loadVerbs() []verb {
	return []verb{
		{name: "run", args: "[flags] URL|FILE.hurl...", run: runLoad,
			does:   "load a server, and report what was measured",
			groups: func() []group { return newRunFlags().groups() },
			begin:  runBegin, more: runNotes, examples: runExamples},
		{name: "find", args: "--slo EXPR [flags] URL|FILE.hurl", run: findCapacity,
			does:   "find the highest rate that meets an objective, or sweep",
			groups: func() []group { return newFindFlags().groups() },
			more:   findNotes, examples: findExamples},
		{name: "vs", args: "[flags] [FILE.hurl] A B...", does: "compare servers, without a file",
			run:    compareServers,
			groups: func() []group { return newVsFlags().groups() },
			begin:  vsBegin, more: vsNotes, examples: vsExamples},
		{name: "scenario check", args: "[flags] FILE.hurl...|FILE.lua", run: scenarioCheck,
			does:     "say what is wrong with a Hurl file or a script",
			groups:   func() []group { return newScenarioFlags().checkGroups() },
			examples: []string{"dyno scenario check login.hurl", "dyno scenario check visit.lua"}},
		{name: "scenario run", args: "[flags] FILE.hurl...|FILE.lua URL", run: scenarioRun,
			does:     "run a file once, and show each step",
			groups:   func() []group { return newScenarioFlags().runGroups() },
			examples: scenarioExamples},
		{name: "lab run", args: "[flags] FILE|NAME", does: "compare servers in an experiment",
			run: labRun, groups: new(labFlags).groups, more: labNotes, examples: labExamples},
		{name: "lab list", does: "list the experiments that ship with dyno", run: labList,
			groups: new(helpFlag).groups, examples: []string{"dyno lab list"}},
		{name: "lab init", args: "[flags] [FILE]", does: "write an experiment file to begin with",
			run: labInit, groups: new(initFlags).groups,
			examples: []string{"dyno lab init new.yaml", "dyno lab init --hurl login.hurl shop.yaml",
				"dyno lab init --script visit.lua visits.yaml"}},
		{name: "lab check", args: "[--start] FILE|NAME...", run: labCheck,
			does:     "say what is wrong with an experiment file, or try its servers",
			groups:   new(labCheckFlags).groups,
			examples: []string{"dyno lab check mine.yaml", "dyno lab check --start mine.yaml"}},
		{name: "lab rerun", args: "[flags] DIR", does: "run an experiment again, in the same order",
			run: labRerun, groups: new(rerunFlags).groups,
			examples: []string{"dyno lab rerun results -o again"}},
		{name: "lab show", args: "[flags] DIR", run: labShow,
			does:   "show the report of an experiment that was run, or write it to a file",
			groups: new(showFlags).groups, examples: showExamples},
		{name: "serve", args: "[flags] [DIR...]", run: serveDashboard,
			does:   "run the dashboard in the browser: loads, results, experiments",
			groups: newServeFlags().groups, more: serveNotes, examples: serveExamples},
		{name: "target", args: "[flags]", does: "run a small, very fast server to load",
			run: serveTarget, groups: new(targetFlags).groups, examples: targetExamples},
		{name: "calibrate", does: "measure what dyno itself can do on this machine", run: calibrate,
			groups: new(calibrateFlags).groups, more: calibrateNotes,
			examples: []string{"dyno calibrate"}},
	}
}

// resultVerbs are the verbs for what was measured, and about dyno itself.
func resultVerbs() []verb {
	return []verb{
		{name: "compare", args: "[flags] A B [C...]", does: "judge stored runs against each other",
			run: compareRuns, groups: newCompareFlags().groups, more: compareNotes,
			examples: compareExamples},
		{name: "report", args: "[flags] RESULT", does: "show a stored result, or write it to a file",
			run: reportAgain, groups: new(reportFlags).groups, more: resultNotes, examples: reportExamples},
		{name: "chart", args: "[flags] RESULT", does: "draw a view of a result as SVG or PNG",
			run: drawChart, groups: newChartFlags().groups, more: chartNotes, examples: chartExamples},
		{name: "history", args: "[flags]", does: "list what is stored, and how it has changed",
			run: historyList, groups: newHistoryFlags().groups, more: historyNotes,
			examples: historyExamples},
		{name: "history note", args: "RESULT TEXT...", does: "say something of a stored result",
			run: historyNote, groups: new(helpFlag).groups, more: resultNotes,
			examples: []string{`dyno history note last "after the upgrade #nightly"`}},
		{name: "history rm", args: "ID...", does: "remove stored results or experiments",
			run: historyRemove, groups: new(helpFlag).groups, more: removeNotes,
			examples: []string{"dyno history rm last"}},
		{name: "history gc", args: "[flags]", does: "remove what nothing that is stored refers to",
			run: historyCollect, groups: new(collectFlags).groups, more: collectNotes,
			examples: []string{"dyno history gc --dry-run", "dyno history gc"}},
		{name: "export", args: "[flags] [ID...]", does: "write what is stored into an archive",
			run: exportFiles, groups: new(exportFlags).groups, more: exportNotes,
			examples: []string{"dyno export -o exported.tar.gz", "dyno export last -o last.tar.gz"}},
		{name: "import", args: "FILE|DIR...", does: "store what others have measured", run: importFiles,
			groups: new(helpFlag).groups, more: importNotes,
			examples: []string{"dyno import before.json", "dyno import exported.tar.gz"}},
		{name: "schema", args: "result|lab|interval", does: "print a JSON Schema", run: printSchema,
			examples: []string{"dyno schema result", "dyno schema lab", "dyno schema interval"}},
		{name: "completion", args: "bash|zsh|fish", does: "print what completes dyno's command lines",
			run: printCompletion, examples: []string{"dyno completion bash"}},
		{name: "version", args: "[--licences]", does: "print the version", run: printVersion,
			groups: new(versionFlags).groups, examples: []string{"dyno version"}},
		{name: "help", args: "[VERB]", does: "explain a verb", run: helpVerb,
			examples: []string{"dyno help", "dyno help run"}},
	}
}

// refuseVerb reports a verb that does not exist, with the one that may have been meant.
func (s streams) refuseVerb(name string) int {
	var names []string
	for _, v := range verbs() {
		names = append(names, v.name)
	}
	meant := ""
	if n := cmp.Or(nearest.ClosestName(name, names), namesThatBegin(name, names)); n != "" {
		meant = "; did you mean " + n + "?"
	}
	fmt.Fprintf(s.err, "dyno: %q is neither a URL nor a verb of dyno%s\nsee 'dyno help'\n", name,
		meant)
	return exitUsage
}

// namesThatBegin are the names that begin with a text, if they are few: "vs or version".
func namesThatBegin(text string, names []string) string {
	const most = 3
	var all []string
	for _, n := range names {
		if strings.HasPrefix(n, text) {
			all = append(all, n)
		}
	}
	if len(all) > most {
		return ""
	}
	return strings.Join(all, " or ")
}

// refuseFlags reports all faults of a verb's command line.
func (s streams) refuseFlags(verb string, faults []error) int {
	for _, f := range faults {
		s.writeError(shortenQuotes(fault.Text(f)))
	}
	fmt.Fprintf(s.err, "see 'dyno help %s'\n", verb)
	return exitUsage
}

// shortenQuotes shortens long quotes in a message, so that each can still be found.
func shortenQuotes(message string) string {
	quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`) // with the escapes of Go
	return quoted.ReplaceAllStringFunc(message, func(q string) string {
		return `"` + format.Clip(q[1:len(q)-1], 80) + `"`
	})
}

// printText writes to stdout and returns the exit code of that.
func (s streams) printText(text string) int {
	_, err := io.WriteString(s.out, text)
	return s.writeExitCode(err)
}

func (s streams) failWith(code int, err error) int {
	for _, one := range joinedErrors(err) {
		s.writeError(say.WithAdvice(fault.Text(one), fact.RemediesOf(one), setting.Flag))
	}
	return code
}

// writeError reports an error on stderr.
func (s streams) writeError(text string) {
	s.noteError(text)
	s.writeLine("dyno: %s", text)
}

// noteError keeps an error for who ordered the process, if somebody did.
func (s streams) noteError(text string) {
	if s.failed != nil {
		*s.failed = oneLine(text)
	}
}

// reportStyle is how stdout is to be formatted: see no-color.org.
func (s streams) reportStyle() format.Style {
	o, _ := s.out.(outlet)
	return format.Style{Width: terminalWidth(s.out), Color: o.paint}
}

// wantsColor reports whether the user wants colours on a terminal.
func wantsColor() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// tooManyWords is the fault of more than n words.
func tooManyWords(words []string, n int) []error {
	if len(words) <= n {
		return nil
	}
	var all []error
	for _, word := range words[n:] {
		all = append(all, fmt.Errorf("unexpected argument %q", word))
	}
	return all
}

// joinedErrors is the errors that err joins, where it says nothing besides, each with what err says
// before all of them, and Flaws with flags in place of fields. Lines are not split: of those in one
// error, another may have chosen the second.
func joinedErrors(err error) []error {
	if err == nil {
		return nil
	}
	if inner := errors.Unwrap(err); inner != nil {
		return wrappedErrors(err, inner)
	}
	joined, is := err.(interface{ Unwrap() []error })
	if !is || errors.Join(joined.Unwrap()...).Error() != err.Error() {
		return []error{inFlags(err)}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, joinedErrors(e)...)
	}
	return all
}

// wrappedErrors is joinedErrors of an err that wraps one.
func wrappedErrors(err, inner error) []error {
	all := joinedErrors(inner)
	before, is := strings.CutSuffix(err.Error(), inner.Error())
	if !is || len(all) == 1 && all[0].Error() == inner.Error() {
		return []error{err}
	}
	for i := range all {
		all[i] = fmt.Errorf("%s%w", before, all[i])
	}
	return all
}
