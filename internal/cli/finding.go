package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"dyno/internal/capacity"
	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/page"
	"dyno/internal/view/report"
)

// A finding is a search or a sweep that find wrote with --json.
type finding struct {
	search *capacity.Search
	curve  *capacity.Curve
}

// openFinding reads a finding; nil, without an error, if the word does not name a file with one.
func openFinding(word string) (*finding, error) {
	info, err := os.Stat(word)
	if err != nil || !info.Mode().IsRegular() { // a pipe can be read only once
		return nil, nil
	}
	b, err := result.ReadFile(word)
	if err != nil {
		return nil, nil
	}
	s, c, known, err := capacity.Decode(b)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", word, err)
	case !known:
		return nil, nil
	}
	return &finding{s, c}, nil
}

// findingForms are the endings of files that a finding can be written to.
var findingForms = []string{".html", ".txt", ".md", ".json"}

// writeReport writes the finding in the form of the file's ending.
func (f *finding) writeReport(w io.Writer, file string, style format.Style) error {
	switch {
	case hasSuffixFold(file, ".html") && f.search != nil:
		return page.Search(w, f.search)
	case hasSuffixFold(file, ".html"):
		return page.Curve(w, f.curve)
	case hasSuffixFold(file, ".json") && f.search != nil:
		return report.IndentedJSON(w, f.search)
	case hasSuffixFold(file, ".json"):
		return report.IndentedJSON(w, f.curve)
	case hasSuffixFold(file, ".md") && f.search != nil:
		return report.SearchMarkdown(w, f.search)
	case hasSuffixFold(file, ".md"):
		return report.CurveMarkdown(w, f.curve)
	case f.search != nil:
		return report.Search(w, f.search, style)
	}
	return report.Curve(w, f.curve, style)
}

// reportFinding is dyno report of a finding.
func (s streams) reportFinding(f *finding, output string) int {
	if output == "" || output == "-" {
		return s.writeExitCode(f.writeReport(s.out, ".txt", s.reportStyle()))
	}
	for _, form := range findingForms {
		if hasSuffixFold(output, form) {
			return s.writeExitCode(writeFile(output, func(w io.Writer) error {
				return f.writeReport(w, output, format.Style{})
			}))
		}
	}
	return s.refuseFlags("report",
		[]error{fmt.Errorf("--output: %q ends in none of %s, and that is what "+
			"a search or a sweep can be written as", output, strings.Join(findingForms, ", "))})
}
