// Package manpage writes manual pages in roff, with the macros of man(7). It knows nothing of
// dyno's verbs: package cli makes Pages from the table of verbs and flags, from which it makes the
// help too, so the two cannot differ.
package manpage

import (
	"fmt"
	"io"
	"strings"
	"time"

	"dyno/internal/view/format"
)

// A Page is one manual page.
type Page struct {
	Name     string // "dyno-run"
	Synopsis string // "dyno run [flags] URL"
	Does     string // in one line
	Before   string // text as it is, above the flags
	Groups   []Group
	After    string // text as it is, below the flags
	Examples []string
	See      []string // names of other pages
}

// A Group is flags under a title.
type Group struct {
	Title string
	Flags []Flag
}

// A Flag is one flag.
type Flag struct {
	Name string // "-c, --connections"
	With string // its value, "N"; "": it is a switch
	Does string
}

// Write writes the page. version and date stand at its foot.
func (p Page) Write(w io.Writer, version string, date time.Time) error {
	d := format.NewDocument(w)
	fmt.Fprintf(d, ".TH %s 1 %s \"dyno %s\" \"User Commands\"\n", quote(strings.ToUpper(p.Name)),
		date.UTC().Format(time.DateOnly), escape(version))
	fmt.Fprintf(d, ".SH NAME\n%s \\- %s\n", escape(p.Name), escape(p.Does))
	fmt.Fprintf(d, ".SH SYNOPSIS\n.B %s\n", escape(p.Synopsis))
	if p.Before != "" {
		fmt.Fprint(d, ".SH DESCRIPTION\n")
		writeVerbatim(d, p.Before)
	}
	for _, g := range p.Groups {
		fmt.Fprintf(d, ".SH %s\n", quote(strings.ToUpper(g.Title)))
		for _, f := range g.Flags {
			fmt.Fprintf(d, ".TP\n\\fB%s\\fR", escape(f.Name))
			if f.With != "" {
				fmt.Fprintf(d, " \\fI%s\\fR", escape(f.With))
			}
			fmt.Fprintf(d, "\n%s\n", escape(strings.ReplaceAll(f.Does, "\n", " ")))
		}
	}
	if p.After != "" {
		fmt.Fprint(d, ".SH NOTES\n")
		writeVerbatim(d, p.After)
	}
	if len(p.Examples) > 0 {
		fmt.Fprint(d, ".SH EXAMPLES\n")
		writeVerbatim(d, strings.Join(p.Examples, "\n"))
	}
	if len(p.See) > 0 {
		fmt.Fprint(d, ".SH SEE ALSO\n")
		for i, name := range p.See {
			end := ","
			if i == len(p.See)-1 {
				end = ""
			}
			fmt.Fprintf(d, ".BR %s (1)%s\n", escape(name), end)
		}
	}
	return d.Err()
}

// writeVerbatim writes a text in its own lines.
func writeVerbatim(w io.Writer, text string) {
	fmt.Fprint(w, ".nf\n")
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		fmt.Fprintln(w, escape(strings.TrimSuffix(line, "\n")))
	}
	fmt.Fprint(w, ".fi\n")
}

// escape writes a text so that roff prints it as it is: a line that begins with a dot or a quote is
// no command, a backslash no escape, and a minus can be copied.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~",
		`\(ti`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

// quote is a text as one argument of a macro.
func quote(s string) string { return `"` + strings.ReplaceAll(escape(s), `"`, `\(dq`) + `"` }
