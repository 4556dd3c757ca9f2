package labreport

import (
	"fmt"
	"io"
	"net/url"

	"dyno/internal/lab"
	"dyno/internal/view/format"
)

// PullRequest writes an experiment as Markdown for a pull request: the verdicts and the
// gate first, picture (the file of the Forest plot, beside; "" for none)
// below it, and the rest folded away.
func PullRequest(w io.Writer, r *lab.Record, picture string) error {
	d := format.NewDocument(w)
	fmt.Fprintf(d, "## %s\n\n%s\n\n", format.EscapeMarkdown(titleText(r)),
		format.EscapeMarkdown(scopeText(r)))
	for _, c := range r.Cautions {
		fmt.Fprintf(d, "> **Caution:** %s\n\n", format.EscapeMarkdown(c))
	}
	for _, text := range gateSection(r).text {
		fmt.Fprintf(d, "**Gate:** %s\n\n", format.EscapeMarkdown(text))
	}
	for _, text := range verdictSection(r).text {
		fmt.Fprintf(d, "- %s\n", format.EscapeMarkdown(text))
	}
	fmt.Fprintln(d)
	if picture != "" {
		fmt.Fprintf(d, "![Ratios to the baseline, with 95 %% intervals](%s)\n\n", url.PathEscape(picture))
	}
	fmt.Fprint(d, "<details><summary>Tables and method</summary>\n\n")
	for _, part := range sections(r) {
		part.writeMarkdown(d)
	}
	fmt.Fprint(d, "</details>\n")
	return d.Err()
}
