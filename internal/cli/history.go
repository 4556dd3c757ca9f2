package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/atomicfile"
	"dyno/internal/dynohome"
	"dyno/internal/fault"
	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/store"
	"dyno/internal/view/historytext"
)

const historyNotes = `Results of one configuration on one machine are a series: the same plan, but
for how long it ran, and the same CPUs and kernel. From one result on, a series
may have become better or worse: such a change is published when it is first
found, and what was published stays, whatever comes after. GLOB is a whole URL
in which * is anything. The words of a note that begin with # are its tags.
`

const importNotes = `Each is a result's file, a folder of results, an experiment's folder, another
$DYNO_HOME, or what dyno export wrote. What is stored already is not replaced:
the same is passed over, and other under the same ID is refused.
Exit codes: 0 all of it is stored, 2 some is not.
`

const exportNotes = `ID is a result's ID, the beginning of one, last, or the folder of an experiment
in the store; without one all is exported, with notes, profiles and change points.
Requests that results share go with them, once.
Exit codes: 0 all of it is exported, 2 some is damaged or missing, and left out.
`

var historyExamples = []string{"dyno history",
	"dyno history --url 'http://127.0.0.1:*' --metric p99"}

const listed = 50 // results, unless --limit says otherwise

// historyFlags is the command line of dyno history.
type historyFlags struct {
	helpFlag
	query store.Query
	all   bool
}

func newHistoryFlags() *historyFlags {
	f := &historyFlags{query: store.Query{Limit: listed}}
	f.query.Metric, _ = findMeasure("throughput")
	return f
}

func (f *historyFlags) groups() []group {
	return []group{{"Flags", []option{
		{"url", "", "GLOB", "only what was loaded at such URLs", setText(&f.query.URL)},
		{"limit", "", "N", fmt.Sprintf("results listed, the newest; 0: all (%d)", listed),
			storeParsed(&f.query.Limit, parseLimit)},
		{"metric", "", "NAME", "what the series are of (throughput), as in dyno compare --metrics",
			storeParsed(&f.query.Metric, findMeasure)},
		{"machine", "", "this|all", "results of which machines (this)", f.setMachine},
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

func (f *historyFlags) setMachine(s string) error {
	if f.all = s == "all"; !f.all && s != "this" {
		return fmt.Errorf("%q is not this or all", s)
	}
	return nil
}

func parseLimit(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a number of results, 0 or more", s)
	}
	return n, nil
}

func findMeasure(name string) (lab.Measure, error) {
	all, err := parseMetrics(name)
	if err == nil && len(all) > 1 {
		err = errors.New("one is wanted")
	}
	if err != nil {
		return lab.Measure{}, err
	}
	return all[0], nil
}

// openStore opens the index, and warns if it is not the one on disk.
func (s streams) openStore() (*store.Store, error) {
	home, err := dynohome.Dir()
	if err != nil {
		return nil, err
	}
	all, err := store.Open(home)
	if err == nil && all.Problem != nil {
		s.writeLine("dyno: %v; all results were read instead", all.Problem)
	}
	return all, err
}

// withStore calls do with the index, and returns the exit code.
func (s streams) withStore(do func(*store.Store) error) int {
	all, err := s.openStore()
	if err != nil {
		return s.failWith(exitUsage, err)
	}
	return s.writeExitCode(errors.Join(do(all), all.Close()))
}

// historyList is dyno history: it lists what is stored, with changes.
func historyList(s streams, args []string) int {
	f := newHistoryFlags()
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("history")
	}
	if faults := append(p.faults, p.extraWords(0)...); len(faults) > 0 {
		return s.refuseFlags("history", faults)
	}
	if !f.all {
		f.query.Machine = store.MachineOf(result.ThisHost())
	}
	return s.withStore(func(all *store.Store) error {
		h, err := all.History(f.query)
		if err != nil {
			return err
		}
		if h.Unkept != nil {
			s.writeLine("dyno: %s", fault.Text(h.Unkept))
		}
		switch n := len(h.Entries) + h.Elsewhere + len(h.Experiments) + len(h.Unreadable); {
		case n == 0 && f.query.URL != "":
			fmt.Fprintf(s.err, "nothing that is stored was loaded at %s\n", f.query.URL)
		case n == 0:
			fmt.Fprintln(s.err, "nothing is stored yet; dyno run stores what it measures")
		}
		faults := []error{historytext.Write(s.out, h, s.reportStyle())}
		for _, u := range h.Unreadable {
			faults = append(faults, fmt.Errorf("%s: %s", u.Path, u.Problem))
		}
		return errors.Join(faults...)
	})
}

// historyNote is dyno history note: it stores a note about a result.
func historyNote(s streams, args []string) int {
	var f helpFlag
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("history note")
	}
	if len(p.words) < 2 {
		p.faults = append(p.faults, errors.New(`a result and a text are wanted; "" takes a note back`))
	}
	if len(p.faults) > 0 {
		return s.refuseFlags("history note", p.faults)
	}
	rs, faults := openResults(p.words[:1])
	if len(faults) > 0 {
		return s.refuseFlags("history note", faults)
	}
	text := strings.Join(p.words[1:], " ")
	return s.withStore(func(all *store.Store) error {
		if err := all.Note(rs[0].ID, text); err != nil {
			return err
		}
		said := historytext.NoteLine(text)
		if said == "" {
			said = "without a note"
		}
		_, err := fmt.Fprintf(s.out, "%s: %s\n", rs[0].ID, said)
		return err
	})
}

// importFiles is dyno import.
func importFiles(s streams, args []string) int {
	var f helpFlag
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("import")
	}
	if len(p.words) == 0 {
		p.faults = append(p.faults, errors.New("a FILE or DIR is wanted, or several"))
	}
	if len(p.faults) > 0 {
		return s.refuseFlags("import", p.faults)
	}
	return s.withStore(func(all *store.Store) error {
		refused := 0
		for _, path := range p.words {
			found, err := all.Import(path)
			for _, i := range found {
				refused += s.reportImport(i)
			}
			if err != nil {
				s.writeLine("dyno: %s", fault.Text(err))
				refused++
			}
		}
		if refused > 0 {
			return fmt.Errorf("import: %d could not be stored", refused)
		}
		return nil
	})
}

// reportImport reports the import of one item, and returns 1 if it is not stored.
func (s streams) reportImport(i store.Imported) int {
	switch {
	case i.Err != nil:
		for _, fault := range joinedErrors(i.Err) {
			s.writeLine("dyno: %s: %v", i.From, fault)
		}
		return 1
	case i.Same:
		fmt.Fprintf(s.out, "%s %s is there already\n", i.What, oneLine(i.ID))
	default:
		fmt.Fprintf(s.out, "%s %s stored\n", i.What, oneLine(i.ID))
	}
	return 0
}

// exportFlags is the command line of dyno export.
type exportFlags struct {
	helpFlag
	output string
}

func (f *exportFlags) groups() []group {
	return []group{{"Flags", []option{
		{"output", "o", "FILE|DIR|-", "write there: an archive if the name ends in .tar.gz, or into a\n" +
			"new or empty folder (dyno-export-TIME.tar.gz)", f.setOutput},
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

// exportFiles is dyno export.
func exportFiles(s streams, args []string) int {
	var f exportFlags
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("export")
	}
	ids, faults := exportIDs(p.words)
	if faults = append(p.faults, faults...); len(faults) > 0 {
		return s.refuseFlags("export", faults)
	}
	if f.output == "-" && isTerminal(s.out) {
		return s.refuseFlags("export", []error{errors.New("--output: an archive is not for a terminal; " +
			"name a file, or send it on with | or >")})
	}
	if f.output == "" {
		f.output = "dyno-export-" + time.Now().UTC().Format("20060102-150405") + ".tar.gz"
	}
	return s.withStore(func(all *store.Store) error {
		n, damaged, err := writeExport(all, f.output, ids, pastOutlet(s.out))
		for _, d := range damaged {
			for _, fault := range joinedErrors(d.Err) {
				s.writeLine("dyno: %s: %v", d.Path, fault)
			}
		}
		if err == nil && f.output != "-" {
			fmt.Fprintf(s.err, "wrote %s: results and experiments, %d in all\n", f.output, n)
		}
		if err == nil && len(damaged) > 0 {
			err = fmt.Errorf("export: left out what is damaged or missing: %d", len(damaged))
		}
		return err
	})
}

// otherArchives are endings of archives that dyno does not write.
var otherArchives = []string{".zip", ".tar", ".gz", ".bz2", ".xz", ".zst", ".7z"}

func isTarball(file string) bool {
	return hasSuffixFold(file, ".tar.gz") || hasSuffixFold(file, ".tgz")
}

// setOutput sets the name of a folder, or of an archive of the supported kind.
func (f *exportFlags) setOutput(s string) error {
	if !isTarball(s) && slices.Contains(otherArchives, strings.ToLower(filepath.Ext(s))) {
		return fmt.Errorf("%q is an archive of another kind; end it in .tar.gz, or name a folder", s)
	}
	return setText(&f.output)(s)
}

// exportIDs are the IDs that words name.
func exportIDs(words []string) (ids []string, faults []error) {
	home, err := dynohome.Dir()
	if err != nil {
		return nil, []error{err}
	}
	for _, w := range words {
		if dir := filepath.Join(home, dynohome.Experiments, w); w != "" && lab.IsExperiment(dir) {
			ids = append(ids, w)
			continue
		}
		rs, bad := openResults([]string{w})
		if faults = append(faults, bad...); len(bad) == 0 {
			ids = append(ids, rs[0].ID)
		}
	}
	return ids, faults
}

// writeExport writes an export to output, completely or not at all.
func writeExport(all *store.Store, output string, ids []string, stdout io.Writer) (n int,
	damaged []store.Damaged, err error) {
	switch {
	case output == "-":
		return all.Export(stdout, ids)
	case !isTarball(output):
		return all.ExportDir(output, ids)
	}
	err = atomicfile.Replace(output, 0o600, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		n, damaged, err = all.Export(b, ids)
		return errors.Join(err, b.Flush())
	})
	if err != nil {
		return 0, damaged, err
	}
	return n, damaged, nil
}
