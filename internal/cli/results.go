package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"dyno/internal/dynohome"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/result/hdrfile"
	"dyno/internal/view/format"
	"dyno/internal/view/labreport"
	"dyno/internal/view/live"
	"dyno/internal/view/page"
	"dyno/internal/view/report"
)

const resultNotes = `A result is a file that --json wrote, the ID of a stored one or the beginning
of it, or "last". Results are stored in $DYNO_HOME, else $XDG_DATA_HOME/dyno,
else ~/.local/share/dyno.
`

// helpFlag is the flag of a verb without other flags.
type helpFlag struct{ help bool }

func (f *helpFlag) groups() []group {
	return []group{{"Flags", []option{{"help", "h", "", "this", setSwitch(&f.help)}}}}
}

// openResults reads the results that words name.
func openResults(words []string) (all []*result.Result, faults []error) {
	home, err := dynohome.Dir()
	if err != nil {
		return nil, []error{err}
	}
	for _, w := range words {
		r, err := dynohome.Open(home, w)
		if info, bad := os.Stat(w); err != nil && bad == nil && info.IsDir() {
			err = fmt.Errorf("%q is a folder; name a file in it, a stored result's ID, or last", w)
		}
		if w == "" {
			err = errors.New(`"" names no result; name a file, a stored result's ID, or last`)
		}
		if err != nil {
			faults = append(faults, err)
		}
		all = append(all, r)
	}
	return all, faults
}

type reportFlags struct {
	helpFlag
	output  string
	verbose bool
	brief   bool
}

func (f *reportFlags) groups() []group {
	return []group{{"Flags", []option{
		{"output", "o", "FILE|-", "write it there, in the form that the name's end says:\n" +
			strings.Join(formatNames(), ", ") + ";\n.csv has only the series, a line a second; " +
			".hgrm and .hlog are\nfor HdrHistogram's tools; - is stdout, as text", setText(&f.output)},
		{"verbose", "v", "", "in text, everything: percentiles, errors, latency over time",
			setSwitch(&f.verbose)},
		{"brief", "", "", "Markdown to paste, to stdout: the answer and its cautions",
			setSwitch(&f.brief)},
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

// renderers are the functions that write a result, by the ending of the file's name.
var renderers = []struct {
	suffix string
	write  func(io.Writer, *result.Result, format.Style) error
}{
	{".junit.xml", withoutStyle(report.JUnit)},
	{".bench.txt", withoutStyle(func(w io.Writer, r *result.Result) error {
		return labreport.Bench(w, r)
	})},
	{".html", withoutStyle(page.Run)},
	{".txt", report.Text},
	{".md", withoutStyle(report.Markdown)},
	{".json", withoutStyle(report.JSON)},
	{".csv", withoutStyle(report.CSV)},
	{".hgrm", withoutStyle(hdrfile.HGRM)},
	{".hlog", withoutStyle(hdrfile.HLog)},
}

// withoutStyle adapts a function for a form that has only one style.
func withoutStyle(write func(io.Writer, *result.Result) error) func(io.Writer, *result.Result,
	format.Style) error {
	return func(w io.Writer, r *result.Result, _ format.Style) error { return write(w, r) }
}

func formatNames() (all []string) {
	for _, r := range renderers {
		all = append(all, r.suffix)
	}
	return all
}

func rendererOf(file string) (func(io.Writer, *result.Result, format.Style) error, error) {
	for _, r := range renderers {
		if hasSuffixFold(file, r.suffix) {
			return r.write, nil
		}
	}
	return nil, fmt.Errorf("--output: %q ends in none of %s", file, strings.Join(formatNames(), ", "))
}

// hasSuffixFold reports whether s ends in suffix, in upper or lower case.
func hasSuffixFold(s, suffix string) bool {
	return strings.HasSuffix(strings.ToLower(s), suffix)
}

// reportAgain is dyno report: it shows a stored result again, or writes it to a file.
func reportAgain(s streams, args []string) int {
	var f reportFlags
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("report")
	}
	if len(p.words) != 1 {
		p.faults = append(p.faults, fmt.Errorf("one result is wanted; %d given", len(p.words)))
	}
	if len(p.faults) == 0 {
		found, err := openFinding(p.words[0])
		if err != nil {
			return s.refuseFlags("report", []error{err})
		}
		if found != nil {
			return s.reportFinding(found, f.output)
		}
	}
	var write func(io.Writer, *result.Result, format.Style) error
	if f.output != "" && f.output != "-" {
		var err error
		if write, err = rendererOf(f.output); err != nil {
			p.faults = append(p.faults, err)
		}
	}
	all, faults := openResults(p.words)
	if faults = append(p.faults, faults...); len(faults) == 0 {
		faults = resultFaults(p.words[0], all[0])
	}
	if len(faults) > 0 {
		return s.refuseFlags("report", faults)
	}
	if write == nil && f.brief {
		return s.writeExitCode(report.Brief(s.out, all[0]))
	}
	if write == nil {
		style := s.reportStyle()
		style.Detail = f.verbose
		return s.writeExitCode(report.Text(s.out, all[0], style))
	}
	return s.writeExitCode(writeFile(f.output, func(w io.Writer) error {
		return write(w, all[0], format.Style{Detail: f.verbose})
	}))
}

// resultFaults is why dyno cannot have written a result; such a result is not shown.
func resultFaults(name string, r *result.Result) (faults []error) {
	for _, fault := range joinedErrors(result.Check(r)) {
		faults = append(faults, fmt.Errorf("%s: %w", name, fault))
	}
	return faults
}

// writeExitCode is the exit code after writing; err is nil if that succeeded.
func (s streams) writeExitCode(err error) int {
	if err != nil {
		return s.failWith(exitUsage, err)
	}
	return exitOK
}

// printSchema is dyno schema: it prints the JSON schema of a result.
func printSchema(s streams, args []string) int {
	schemas := map[string][]byte{"result": result.Schema(), "lab": experiment.Schema(),
		"interval": live.IntervalSchema()}
	of, known := schemas[strings.Join(args, " ")]
	if !known {
		return s.refuseFlags("schema",
			[]error{fmt.Errorf("%q has no schema; there is one of: result, lab, interval",
				strings.Join(args, " "))})
	}
	_, err := s.out.Write(of)
	return s.writeExitCode(err)
}
