package experiment

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"dyno/internal/setting"
)

//go:embed schema.json
var schema []byte

// shipped has a folder for each experiment: its file, and what lies beside it.
// Servers in Go are packages of this module, so that its tests build them, and
// are built by the go command from their sources alone.
//
//go:embed shipped
var shipped embed.FS

// shippedFile is the name of the experiment file in its folder.
const shippedFile = "experiment.yaml"

// Schema is the JSON Schema (2020-12) of experiment files.
func Schema() []byte { return setting.WithSettings(schema) }

// A Listing describes an experiment that ships inside dyno.
type Listing struct {
	Name        string
	Description string
	Needs       []string // programs that some variant needs
}

// Shipped are the experiments that ship inside dyno, by name.
func Shipped() []Listing {
	var all []Listing
	for _, name := range ShippedNames() {
		e, err := OpenShipped(name)
		if err != nil {
			continue // a test opens each
		}
		l := Listing{Name: name, Description: e.Description}
		for _, v := range Expand(e) {
			l.Needs = append(append(l.Needs, v.Needs.Programs...), v.programs()...)
		}
		slices.Sort(l.Needs)
		l.Needs = slices.Compact(l.Needs)
		all = append(all, l)
	}
	return all
}

// OpenShipped opens a shipped experiment. It is in no folder yet: Here is "" until Extract has
// created one.
func OpenShipped(name string) (*Experiment, error) {
	text, err := shipped.ReadFile(path.Join("shipped", name, shippedFile))
	if err != nil {
		return nil, fmt.Errorf("%q is not an experiment that ships with dyno%s", name,
			orAllowed(name, ShippedNames()))
	}
	e, err := Read(name, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	e.Here = ""
	return e, nil
}

// Open opens a file that the experiment file names. Of a shipped experiment that is in no folder
// yet it is the file that ships.
func (e *Experiment) Open(name string) (io.ReadCloser, error) {
	if e.Here == "" && !filepath.IsAbs(filepath.FromSlash(name)) {
		return shipped.Open(path.Join("shipped", e.File, name))
	}
	return os.Open(e.Path(name))
}

// Extract writes all files of a shipped experiment into dir, which it creates. It replaces no file.
func Extract(name, dir string) error {
	folder, err := fs.Sub(shipped, path.Join("shipped", name))
	if err == nil {
		err = os.CopyFS(dir, folder)
	}
	if err != nil {
		return fmt.Errorf("extracting the files of %s: %w", name, err)
	}
	return nil
}

// Extracted returns an error if a file that Extract wrote into dir is missing or different. The
// experiment file itself may differ, to be run as another experiment.
func Extracted(name, dir string) error {
	folder, err := fs.Sub(shipped, path.Join("shipped", name))
	if err != nil {
		return err
	}
	return fs.WalkDir(folder, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		at := filepath.Join(dir, filepath.FromSlash(file))
		is, err := os.ReadFile(at)
		if err != nil {
			return fmt.Errorf("a file of %s is gone: %w; put back what was in %s", name, err, dir)
		}
		was, err := fs.ReadFile(folder, file)
		if err == nil && file != shippedFile && !bytes.Equal(is, was) {
			return fmt.Errorf("%s was changed, and loads before and after could not be compared; put it "+
				"back, or run the changed experiment by its own file, %s", at, filepath.Join(dir, shippedFile))
		}
		return err
	})
}

// ShippedNames are the names of the experiments that ship inside dyno. It reads none of them.
func ShippedNames() []string {
	entries, _ := shipped.ReadDir("shipped") // an embedded folder is always there
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}
