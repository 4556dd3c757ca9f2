package experiment

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"dyno/internal/lab/experiment/source"
)

// ReadFile reads an experiment file, and checks that the files it names exist. Errors are those of
// Read.
func ReadFile(path string) (*Experiment, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readSource(path, f, checks{stat: func(path string) error {
		_, err := os.Stat(path)
		return err
	}})
}

// Read reads an experiment from r and sets the defaults. name is the file's name in faults. Files
// that the experiment names are relative to its folder; Read does not open them. If the file is
// faulty the error is Faults.
func Read(name string, r io.Reader) (*Experiment, error) {
	return readSource(name, r, checks{stat: func(string) error { return nil }})
}

// ReadBegun is Read for an experiment that was begun, maybe by an earlier version: its names may
// differ in capitals alone.
func ReadBegun(name string, r io.Reader) (*Experiment, error) {
	return readSource(name, r, checks{stat: func(string) error { return nil }, begun: true})
}

// checks are what depends on who reads an experiment.
type checks struct {
	stat  func(path string) error // checks that a file exists
	begun bool                    // names may differ in capitals alone
}

func readSource(name string, r io.Reader, o checks) (*Experiment, error) {
	text, err := io.ReadAll(io.LimitReader(r, source.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	here, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("find the folder of %s: %w", name, err)
	}
	e := &Experiment{File: name, Here: here, Source: text}
	d := newDecoder(name, text)
	root, broken := d.text.Parse()
	if broken != nil {
		broken.File = name
		return nil, Faults{*broken}
	}
	d.decodeExperiment(root, e)
	entries := e.derive()
	c := &checker{e, d, o, map[string]int{}, entries}
	e.deriveStreams(entries, c.isGiven)
	c.checkAll()
	if len(d.faults) > 0 {
		return nil, d.faults.sortFaults()
	}
	return e, nil
}
