package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"dyno/internal/dynohome"
	"dyno/internal/lab"
	"dyno/internal/store"
	"dyno/internal/view/format"
)

const removeNotes = `ID is a result's ID, the beginning of one, last, or the folder of an experiment
in the store. A result goes with its note and profiles; requests that it shares
with others stay until dyno history gc, and change points stay as published.
Exit codes: 0 all is removed, 2 something is not, or is not there: then nothing is.
`

const collectNotes = `Removed are requests that no result refers to, notes and profiles whose result
is gone, and what a dyno left that was killed while it wrote.
Exit codes: 0 done, 2 something cannot be removed.
`

// historyRemove is dyno history rm.
func historyRemove(s streams, args []string) int {
	var f helpFlag
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("history rm")
	}
	if len(p.words) == 0 {
		p.faults = append(p.faults, errors.New("an ID is wanted, or several"))
	}
	ids, faults := removableIDs(p.words)
	if faults = append(p.faults, faults...); len(faults) > 0 {
		return s.refuseFlags("history rm", faults)
	}
	return s.withStore(func(all *store.Store) error {
		var faults []error
		for _, id := range ids {
			gone, err := all.Remove(id)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			if _, err := fmt.Fprintf(s.out, "removed %s %s: %s\n", gone.What, id,
				format.Bytes(gone.Bytes)); err != nil {
				return err
			}
		}
		if left, err := all.Collect(true); err == nil && len(left) > 0 {
			fmt.Fprintf(s.err, "%s are not needed any more: dyno history gc removes them\n",
				format.Bytes(totalBytes(left)))
		}
		return errors.Join(faults...)
	})
}

// removableIDs are the IDs that words name, each once. A result need not be readable.
func removableIDs(words []string) (ids []string, faults []error) {
	home, err := dynohome.Dir()
	if err != nil {
		return nil, []error{err}
	}
	for _, w := range words {
		id := w
		if w == "" {
			faults = append(faults, errors.New(`"" names nothing; give an ID, or last`))
			continue
		}
		if !filepath.IsLocal(w) || !lab.IsExperiment(filepath.Join(home, dynohome.Experiments, w)) {
			if id, err = dynohome.ID(home, w); err != nil {
				faults = append(faults, err)
				continue
			}
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, faults
}

func totalBytes(all []store.Removed) (bytes int64) {
	for _, r := range all {
		bytes += r.Bytes
	}
	return bytes
}

// collectFlags is the command line of dyno history gc.
type collectFlags struct {
	helpFlag
	dry bool
}

func (f *collectFlags) groups() []group {
	return []group{{"Flags", []option{
		{"dry-run", "", "", "say what would be removed, and remove nothing", setSwitch(&f.dry)},
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

// historyCollect is dyno history gc.
func historyCollect(s streams, args []string) int {
	var f collectFlags
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("history gc")
	}
	if faults := append(p.faults, p.extraWords(0)...); len(faults) > 0 {
		return s.refuseFlags("history gc", faults)
	}
	did, freed := "removed", "freed"
	if f.dry {
		did, freed = "would remove", "would free"
	}
	return s.withStore(func(all *store.Store) error {
		found, err := all.Collect(f.dry)
		for _, r := range found {
			if _, err := fmt.Fprintf(s.out, "%s %s %s: %s\n", did, r.What, oneLine(r.Path),
				format.Bytes(r.Bytes)); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "%s %s\n", freed, format.Bytes(totalBytes(found)))
		return err
	})
}
