package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/view/manpage"
)

// manualNotes is what the page dyno(1) says besides the list of verbs.
const manualNotes = `dyno URL means dyno run URL. Each verb has a page of its own, dyno-VERB(1).
Results are stored in $DYNO_HOME, else $XDG_DATA_HOME/dyno, else ~/.local/share/dyno.
NO_COLOR is honoured.
`

// writeManual is the hidden verb man, which packages are made with: it writes the manual page of
// each verb, and dyno.1, into a folder. $SOURCE_DATE_EPOCH is their date.
func writeManual(s streams, args []string) int {
	if len(args) != 1 {
		return s.refuseFlags("help", []error{errors.New("man: one folder is wanted, for the pages")})
	}
	date, err := sourceDate()
	if err != nil {
		return s.failWith(exitUsage, err)
	}
	for _, p := range manualPages() {
		err := os.MkdirAll(args[0], 0o755)
		if err == nil {
			err = writeFile(filepath.Join(args[0], p.Name+".1"), func(w io.Writer) error {
				return p.Write(w, loadplan.Version, date)
			})
		}
		if err != nil {
			return s.failWith(exitUsage, err)
		}
	}
	return exitOK
}

// sourceDate is the time of the source, so that two builds of it are equal; else that of now.
func sourceDate() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		return time.Now(), nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %q is not a number of seconds", text)
	}
	return time.Unix(seconds, 0), nil
}

// manualPages are dyno(1) and a page for each verb.
func manualPages() []manpage.Page {
	all := []manpage.Page{{Name: "dyno", Synopsis: "dyno VERB [flags]", After: manualNotes,
		Does: "loads HTTP servers, and says how far its numbers can be trusted"}}
	var list []manpage.Flag
	for _, v := range verbs() {
		list = append(list, manpage.Flag{Name: "dyno " + v.name, With: v.args, Does: v.does})
		all[0].See = append(all[0].See, manualName(v))
		all = append(all, manualPage(v))
	}
	all[0].Groups = []manpage.Group{{Title: "Verbs", Flags: list}}
	return all
}

func manualName(v verb) string { return "dyno-" + strings.ReplaceAll(v.name, " ", "-") }

// manualPage is the page of a verb: what its help says.
func manualPage(v verb) manpage.Page {
	p := manpage.Page{Name: manualName(v),
		Synopsis: strings.TrimSpace("dyno " + v.name + " " + v.args),
		Does:     v.does, Before: v.begin, After: v.more, Examples: v.examples, See: []string{"dyno"}}
	if v.groups == nil {
		return p
	}
	for _, g := range v.groups() {
		one := manpage.Group{Title: g.title}
		for _, o := range g.options {
			names := []string{"-" + o.short, o.flagName()}
			if o.long == "" { // another tool's
				names = names[:1]
			}
			names = slices.DeleteFunc(names, func(n string) bool { return n == "-" })
			one.Flags = append(one.Flags, manpage.Flag{Name: strings.Join(names, ", "),
				With: o.value, Does: o.help()})
		}
		p.Groups = append(p.Groups, one)
	}
	return p
}
