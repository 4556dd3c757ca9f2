package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"dyno/internal/dynohome"
	"dyno/internal/lab"
	"dyno/internal/setting"
	"dyno/internal/view/chart"
	"dyno/internal/view/drawing"
	"dyno/internal/view/format"
	"dyno/internal/view/payload"
)

// chartFlags is the command line of dyno chart.
type chartFlags struct {
	helpFlag
	output string
	view   string
	dark   bool
	width  int
}

func newChartFlags() *chartFlags { return &chartFlags{width: drawing.DefaultWidth} }

func (f *chartFlags) groups() []group {
	return []group{{"Flags", []option{
		{"output", "o", "FILE", "write the picture there; the name ends in .svg or .png",
			setText(&f.output)},
		{"view", "", "NAME", "which view (the first); without -o all are listed", setText(&f.view)},
		{"dark", "", "", "light on dark", setSwitch(&f.dark)},
		{"width", "", "PX", fmt.Sprintf("from %d to %d (%d); a PNG has two pixels for each",
			drawing.LeastWidth, drawing.MostWidth, drawing.DefaultWidth), storeParsed(&f.width, parseWidth)},
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

const chartNotes = `RESULT is a stored run, its file, a search or a sweep that --json wrote, or the
folder or ID of an experiment. The views are those of its HTML page: of a run latency
over time, percentiles, rate, errors and others; of an experiment the forest plot of each
measure, percentiles, CPU, trials, readings of servers and machine (of the first round),
flame graphs, earlier runs and others. More than five lines are drawn as small plots, one
each. No browser is needed.
`

var chartExamples = []string{"dyno chart last", "dyno chart last -o latency.png",
	"dyno chart last --view spectrum --dark -o spectrum.svg", "dyno chart results -o verdicts.svg"}

// parseWidth parses the width of a picture.
func parseWidth(s string) (int, error) {
	n, err := setting.ParseInt(s)
	if err == nil && (n < drawing.LeastWidth || n > drawing.MostWidth) {
		err = fmt.Errorf("%d is not from %d to %d", n, drawing.LeastWidth, drawing.MostWidth)
	}
	return n, err
}

// chartForm is the form that a file's name asks for.
func chartForm(file string) (drawing.Form, error) {
	for _, form := range []drawing.Form{drawing.SVG, drawing.PNG} {
		if hasSuffixFold(file, form.String()) {
			return form, nil
		}
	}
	return "", fmt.Errorf("--output: %q ends in neither .svg nor .png", file)
}

// drawChart is dyno chart: it draws a view of a result, or lists the views.
func drawChart(s streams, args []string) int {
	f := newChartFlags()
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("chart")
	}
	if len(p.words) != 1 {
		p.faults = append(p.faults, fmt.Errorf("one result is wanted; %d given", len(p.words)))
	}
	options := drawing.Options{Dark: f.dark, Width: f.width}
	if f.output != "" {
		form, err := chartForm(f.output)
		if options.Form = form; err != nil {
			p.faults = append(p.faults, err)
		}
	}
	if len(p.faults) > 0 {
		return s.refuseFlags("chart", p.faults)
	}
	views, err := viewsOf(p.words[0])
	if err != nil {
		return s.refuseFlags("chart", joinedErrors(err))
	}
	if f.output == "" && f.view == "" {
		return s.writeExitCode(listViews(s.out, views))
	}
	v, err := chart.Find(views, f.view)
	switch {
	case err != nil:
		return s.refuseFlags("chart", []error{fmt.Errorf("--view: %w", err)})
	case f.output == "":
		return s.refuseFlags("chart", []error{errors.New("--output: none is given; " +
			"write -o FILE, whose name ends in .svg or .png")})
	case v.Empty != "":
		return s.failWith(exitUnreachable, fmt.Errorf("the view %s is empty: %s", v.Name, v.Empty))
	}
	return s.writeExitCode(writeFile(f.output, func(w io.Writer) error {
		return drawing.Write(w, v, options)
	}))
}

// viewsOf are the views of what a word names: an experiment, a search, a sweep or a run.
func viewsOf(word string) ([]chart.View, error) {
	if dir := experimentDir(word); dir != "" {
		p, err := payload.OfExperiment(dir, storedExperimentsFolder())
		if err != nil {
			return nil, err
		}
		return chart.Experiment(p), nil
	}
	found, err := openFinding(word)
	switch {
	case err != nil:
		return nil, err
	case found != nil && found.search != nil:
		return chart.Capacity(payload.OfSearch(found.search)), nil
	case found != nil:
		return chart.Capacity(payload.OfCurve(found.curve)), nil
	}
	all, faults := openResults([]string{word})
	if len(faults) == 0 {
		faults = resultFaults(word, all[0])
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return chart.Run(payload.OfRun(all[0])), nil
}

// experimentDir is the folder of the experiment that a word names, by itself or by its ID in the
// store; "" if it names none.
func experimentDir(word string) string {
	if lab.IsExperiment(word) {
		return word
	}
	home, err := dynohome.Dir()
	if err != nil || word == "" || strings.ContainsAny(word, `/\`) {
		return ""
	}
	if dir := filepath.Join(home, dynohome.Experiments, word); lab.IsExperiment(dir) {
		return dir
	}
	return ""
}

// listViews lists views with their titles.
func listViews(w io.Writer, views []chart.View) error {
	d := format.NewDocument(w)
	t := format.Table{}
	for _, v := range views {
		says := v.Title
		if v.Empty != "" {
			says = "empty: " + v.Empty
		}
		if v.Name != "" {
			t = append(t, []string{v.Name, says})
		}
	}
	t.WriteText(d, "", "ll")
	return d.Err()
}
