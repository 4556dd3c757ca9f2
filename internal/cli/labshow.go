package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"dyno/internal/dynohome"
	"dyno/internal/lab"
	"dyno/internal/view/chart"
	"dyno/internal/view/drawing"
	"dyno/internal/view/format"
	"dyno/internal/view/labreport"
	"dyno/internal/view/page"
	"dyno/internal/view/payload"
)

// showFlags is the command line of dyno lab show.
type showFlags struct {
	helpFlag
	output  string
	verbose bool
	brief   bool
}

func (f *showFlags) groups() []group {
	var all []string
	for _, r := range experimentRenderers {
		all = append(all, r.suffix)
	}
	return []group{{"Flags", []option{
		{"output", "o", "FILE|-", "write it there, in the form that the name's end says:\n" +
			strings.Join(all, ", ") + ";\n.md is for a pull request, with a plot in a file beside it;\n" +
			".csv has a line a trial; - is stdout, as text", setText(&f.output)},
		{"verbose", "v", "", "everything, in .txt and .md too: trials, fairness, latency, method",
			setSwitch(&f.verbose)},
		{"brief", "", "", "Markdown for a pull request, to stdout: at most 3,000 characters,\n" +
			"and all that a gate names",
			setSwitch(&f.brief)},
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

// A shown is an experiment that a report is made of.
type shown struct {
	dir    string // its folder
	file   string // file of the report
	record *lab.Record
	style  format.Style
}

// experimentRenderers are the functions that write an experiment, by the ending of the file's name.
var experimentRenderers = []struct {
	suffix string
	write  func(io.Writer, shown) error
}{
	{".md", writePullRequest},
	{".html", func(w io.Writer, e shown) error {
		return page.Experiment(w, e.dir, storedExperimentsFolder())
	}},
	{".csv", func(w io.Writer, e shown) error { return labreport.ExperimentCSV(w, e.record) }},
	{".junit.xml", func(w io.Writer, e shown) error { return labreport.ExperimentJUnit(w, e.record) }},
	{".bench.txt", func(w io.Writer, e shown) error { return labreport.ExperimentBench(w, e.record) }},
	{".txt", func(w io.Writer, e shown) error {
		return labreport.Experiment(w, e.record, e.style)
	}},
}

// storedExperimentsFolder is the folder of the store's experiments; "" if there is no store.
func storedExperimentsFolder() string {
	home, err := dynohome.Dir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, dynohome.Experiments)
}

// writePullRequest writes the Markdown, and the plot that it shows to a file next to it. With -v
// it writes all tables.
func writePullRequest(w io.Writer, e shown) error {
	if e.style.Detail {
		return labreport.WholeMarkdown(w, e.record)
	}
	v := chart.Ratios(payload.OfRecord(e.record))
	if v.Empty != "" {
		return labreport.PullRequest(w, e.record, "")
	}
	picture := strings.TrimSuffix(e.file, filepath.Ext(e.file)) + ".svg"
	err := writeFile(picture, func(w io.Writer) error {
		return drawing.Write(w, v, drawing.Options{Form: drawing.SVG, Both: true,
			Width: drawing.DefaultWidth})
	})
	if err != nil {
		return err
	}
	return labreport.PullRequest(w, e.record, filepath.Base(picture))
}

// labShow is dyno lab show: it reports an experiment that was run.
func labShow(s streams, args []string) int {
	var f showFlags
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("lab show")
	}
	var write func(io.Writer, shown) error
	if f.output != "" && f.output != "-" {
		var err error
		if write, err = experimentRenderer(f.output); err != nil {
			p.faults = append(p.faults, err)
		}
	}
	if f.brief && (f.output != "" || f.verbose) {
		p.faults = append(p.faults, errors.New("--brief: prints Markdown of one length; give it without "+
			"-o and -v, or write the same with -o pr.md"))
	}
	r, faults := p.openRecord()
	if len(faults) > 0 {
		return s.refuseFlags("lab show", faults)
	}
	style := s.reportStyle()
	style.Detail = f.verbose
	switch {
	case write == nil && f.brief:
		return s.writeExitCode(labreport.PullRequest(s.out, r, ""))
	case write == nil:
		return s.writeExitCode(labreport.Experiment(s.out, r, style))
	}
	e := shown{p.words[0], f.output, r, format.Style{Detail: f.verbose}}
	return s.writeExitCode(writeFile(f.output, func(w io.Writer) error { return write(w, e) }))
}

func experimentRenderer(file string) (func(io.Writer, shown) error, error) {
	var all []string
	for _, r := range experimentRenderers {
		if hasSuffixFold(file, r.suffix) {
			return r.write, nil
		}
		all = append(all, r.suffix)
	}
	return nil, fmt.Errorf("--output: %q ends in none of %s", file, strings.Join(all, ", "))
}
