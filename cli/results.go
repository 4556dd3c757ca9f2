package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"dyno/experiment"
	"dyno/report"
	"dyno/result"
)

const resultNotes = `A result is a file that --json wrote, the ID of a stored one or the beginning
of it, or "last". Results are stored in $DYNO_HOME, else $XDG_DATA_HOME/dyno,
else ~/.local/share/dyno.
`

// helpFlag is the only one of a verb that needs none.
type helpFlag struct{ help bool }

func (f *helpFlag) groups() []group {
	return []group{{"Flags", []option{{"help", "h", "", "this", on(&f.help)}}}}
}

// open reads the results that words name.
func open(words []string) (all []*result.Result, faults []error) {
	home, err := result.Home()
	if err != nil {
		return nil, []error{err}
	}
	for _, w := range words {
		r, err := result.Open(home, w)
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
	output string
}

func (f *reportFlags) groups() []group {
	return []group{{"Flags", []option{
		{"output", "o", "FILE|-", "write it there, in the form that the name's end says:\n" +
			strings.Join(formats(), ", ") + ";\n.csv has only the series, a line a second; " +
			"- is stdout, as text", word(&f.output)},
		{"help", "h", "", "this", on(&f.help)},
	}}}
}

// renderers has what writes a result in the form that a file's name asks for.
var renderers = []struct {
	suffix string
	write  func(io.Writer, *result.Result) error
}{
	{".md", report.Markdown},
	{".json", report.JSON},
	{".csv", report.CSV},
	{".txt", func(w io.Writer, r *result.Result) error { return report.Text(w, r, report.Style{}) }},
}

func formats() (all []string) {
	for _, r := range renderers {
		all = append(all, r.suffix)
	}
	return all
}

func renderer(file string) (func(io.Writer, *result.Result) error, error) {
	for _, r := range renderers {
		if strings.EqualFold(filepath.Ext(file), r.suffix) {
			return r.write, nil
		}
	}
	return nil, fmt.Errorf("--output: %q ends in none of %s", file, strings.Join(formats(), ", "))
}

// again is dyno report: a result as it was shown, or in a file.
func again(s streams, args []string) int {
	var f reportFlags
	p := parse(args, f.groups())
	if f.help {
		return s.help("report")
	}
	if len(p.words) != 1 {
		p.faults = append(p.faults, fmt.Errorf("one result is wanted; %d given", len(p.words)))
	}
	var write func(io.Writer, *result.Result) error
	if f.output != "" && f.output != "-" {
		var err error
		if write, err = renderer(f.output); err != nil {
			p.faults = append(p.faults, err)
		}
	}
	all, faults := open(p.words)
	if faults = append(p.faults, faults...); len(faults) > 0 {
		return s.refuse("report", faults)
	}
	if write == nil {
		return s.wrote(report.Text(s.out, all[0], s.style()))
	}
	return s.wrote(writeFile(f.output, func(w io.Writer) error { return write(w, all[0]) }))
}

// wrote is the exit code of having written something, or not.
func (s streams) wrote(err error) int {
	if err != nil {
		return s.fail(exitUsage, err)
	}
	return exitOK
}

// history is dyno history: what is stored, newest first.
func history(s streams, args []string) int {
	var f helpFlag
	p := parse(args, f.groups())
	if f.help {
		return s.help("history")
	}
	if faults := append(p.faults, extra(p.words, 0)...); len(faults) > 0 {
		return s.refuse("history", faults)
	}
	home, err := result.Home()
	if err != nil {
		return s.fail(exitUsage, err)
	}
	all, err := result.List(home)
	if err != nil {
		return s.fail(exitUsage, err)
	}
	if len(all) == 0 {
		fmt.Fprintf(s.err, "nothing is stored in %s yet; dyno run stores what it measures\n", home)
		return exitOK
	}
	return s.wrote(list(s.out, all))
}

func list(w io.Writer, all []result.Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tstarted\tmodel\treq/s\tp99\tverdict\tURL")
	var unreadable []error
	for _, r := range all {
		if r.Err != nil {
			unreadable = append(unreadable, r.Err)
			continue
		}
		p99 := "-"
		if r.P99 > 0 {
			p99 = time.Duration(r.P99 * 1e3).Round(time.Microsecond).String()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.0f\t%s\t%s\t%s\n", r.ID,
			r.Started.Local().Format("2006-01-02 15:04:05"), r.Model, r.Completed, p99, r.Verdict, r.URL)
	}
	return errors.Join(append(unreadable, t.Flush())...)
}

// schema is dyno schema: what checks a result of another's making.
func schema(s streams, args []string) int {
	schemas := map[string][]byte{"result": result.Schema, "lab": experiment.Schema()}
	of, known := schemas[strings.Join(args, " ")]
	if !known {
		return s.refuse("schema", []error{fmt.Errorf("%q has no schema; there is one of: result, lab",
			strings.Join(args, " "))})
	}
	_, err := s.out.Write(of)
	return s.wrote(err)
}
