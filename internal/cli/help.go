package cli

import (
	"fmt"
	"io"
	"strings"

	"dyno/internal/engine/loadplan"
)

const runBegin = `The five flags that most runs need:
  -c, --connections N   a closed workload: N connections, each always with a request in flight
  -R, --rate N          an open workload: N requests per second, whatever the server does
  -d, --duration D      measure for so long
      --slo EXPR        an objective, as 'p99 < 20 ms, errors < 1 %': exit code 1 if it is missed
  -v, --verbose         print everything, not only the first 20 lines

  dyno run -c 50 -d 10s http://127.0.0.1:8080/             how much can the server do?
  dyno run -R 500 --warmup 1s http://127.0.0.1:8080/       how long do requests take at 500/s?
  dyno run -R 500 --slo 'p99<20ms' http://127.0.0.1:8080/  is that fast enough?

All flags:
`

const labBegin = `An experiment starts each server that its file names, loads them in random order
again and again, and compares them with confidence intervals.

  dyno lab run hello --quick         run one that ships with dyno: a minute, nothing to install
  dyno lab init mine.yaml            write a file to begin with; edit it
  dyno lab check mine.yaml           show what it would do, and how long that takes
  dyno lab run mine.yaml -o results  run it; report.html, report.md and all trials are in results
  dyno lab show results -v           show all that was found

`

const fleetBegin = `A fleet is several machines that make one load together. One of them runs the
hub, each runs an agent, and each load is ordered from where you are.

  dyno fleet up                      on the machine of the hub
  dyno fleet token                   prints a token for one agent
  dyno agent --join TOKEN            on each other machine
  dyno run --fleet all -R 30k URL    one load from all of them

`

const runNotes = `A URL, a header's value and a body can have {{uuid}}, {{int 1 100}}, {{hex 16}},
{{seq}}, {{now}}, {{env "NAME"}}, and the names of --variable and --data.
A FILE.hurl is a session of several requests, which each user runs again and again, with
cookies of its own; --variable base=URL names the server, --data has rows for {{names}}.
With --script FILE.lua a script in Lua, with wrk's API, makes the requests; it counts and
checks with dyno.counter, dyno.histogram and dyno.check.
N may end in k or M; D is a duration, as 500ms or 1m30s, or a number of seconds.
A FILE of a body, bodies, URLs, requests or stages may be - for stdin; certificates
and keys need files. URL may begin with http://, https://, h2c:// (HTTP/2
without TLS) or fcgi:// (FastCGI), or be http+unix:///path/to.sock:/uri or
fcgi+unix:///path/to.sock:/script. Defaults are in parentheses.
Exit codes: 0 done, 1 an objective was missed, 2 bad usage or the result could not
be stored, 3 not to be trusted (with --strict) or an agent was lost, 4 no answer
arrived, 5 a fault of dyno, 130 interrupted (by q in --tui too), after the report.
Where several apply: 130, 5, 2, 4, 3, 1.
`

var runExamples = []string{
	"dyno http://127.0.0.1:8080/",
	"dyno run -c 100 -d 30s -v http://127.0.0.1:8080/",
	"dyno run -R 20k --warmup 1s http://127.0.0.1:8080/",
	"dyno run -n 12345 -c 7 --expect 2xx --json result.json http://127.0.0.1:8080/",
	`dyno run -X PUT -H 'Content-Type: application/json' -b '{"a": 1}' http://127.0.0.1:8080/item`,
	`dyno run -b '{"id": "{{uuid}}"}' --expect-body contains:id http://127.0.0.1:8080/item`,
	"dyno run --requests-file mix.jsonl --reconnect 100 http://127.0.0.1:8080",
	"dyno run -c 20 login.hurl --variable base=http://127.0.0.1:8080",
	"dyno run -c 20 --script visit.lua http://127.0.0.1:8080",
}

var scenarioExamples = []string{
	"dyno scenario run -v login.hurl --variable base=http://127.0.0.1:8080",
	"dyno scenario run -n 2 -v visit.lua http://127.0.0.1:8080",
}

var compareExamples = []string{
	"dyno compare before.json after.json",
	"dyno compare --margin 5% base head -o comparison.md",
}

var labExamples = []string{
	"dyno lab run hello --quick",
	"dyno lab run mine.yaml -o results",
	"dyno lab run --resume results",
}

var showExamples = []string{
	"dyno lab show results", "dyno lab show results -o pr.md",
	"dyno lab show results -o trials.csv",
}

var reportExamples = []string{"dyno report last", "dyno report last -o result.md"}

// helpVerb is dyno help: for everything, or for one verb.
func helpVerb(s streams, args []string) int {
	switch {
	case len(args) == 0, strings.HasPrefix(args[0], "-"):
		var b strings.Builder
		printOverview(&b)
		return s.printText(b.String())
	}
	name := strings.Join(args, " ")
	if _, found := findVerb(name); found {
		return s.printHelp(name)
	}
	if isFamily(args[0]) {
		return s.printVerbs(args[0], []string{"--help"})
	}
	if _, found := findVerb(args[0]); found {
		return s.refuseFlags("help", tooManyWords(args, 1))
	}
	return s.refuseVerb(args[0])
}

// printOverview lists all verbs.
func printOverview(w io.Writer) {
	fmt.Fprintf(w, "dyno %s loads HTTP servers, and says how far its numbers can be trusted.\n\n",
		loadplan.Version)
	for _, v := range verbs() {
		fmt.Fprintf(w, "  %-34s %s\n", strings.TrimSpace("dyno "+v.name+" "+v.args), v.does)
	}
	fmt.Fprint(w, "\ndyno URL means dyno run URL. More of each: dyno help VERB\n")
}

// printHelp prints the help of a verb.
func (s streams) printHelp(name string) int {
	v, _ := findVerb(name)
	w := new(strings.Builder)
	fmt.Fprintf(w, "%s: %s\n", strings.TrimSpace("dyno "+v.name+" "+v.args), v.does)
	if v.begin != "" {
		fmt.Fprintf(w, "\n%s", v.begin)
	}
	if v.groups != nil {
		for _, g := range v.groups() {
			fmt.Fprintf(w, "\n%s\n", g.title)
			for _, o := range g.options {
				writeOption(w, o)
			}
		}
	}
	if v.more != "" {
		fmt.Fprintf(w, "\n%s", v.more)
	}
	if len(v.examples) > 0 {
		fmt.Fprint(w, "\nExamples\n")
		for _, e := range v.examples {
			fmt.Fprintf(w, "  %s\n", e)
		}
	}
	return s.printText(w.String())
}

// writeOption writes the help of an option, in several lines if its text has several.
func writeOption(w io.Writer, o option) {
	short := "    "
	if o.short != "" {
		short = "-" + o.short + ", "
	}
	name := o.flagName()
	if o.long == "" { // another tool's
		short, name = "", "-"+o.short
	}
	left := strings.TrimRight(short+name+" "+o.value, " ")
	for line := range strings.SplitSeq(o.help(), "\n") {
		fmt.Fprintf(w, "  %-28s %s\n", left, line)
		left = ""
	}
}
