package experiment

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed schema.json
var schema []byte

//go:embed starter.yaml
var starter []byte

//go:embed shipped/*.yaml
var shipped embed.FS

// Schema is the JSON Schema (2020-12) of experiment files.
func Schema() []byte { return bytes.Clone(schema) }

// Starter is an experiment file to begin with. It runs as it is, with dyno alone.
func Starter() []byte { return bytes.Clone(starter) }

// A Listing is what a list says of an experiment that ships inside dyno.
type Listing struct {
	Name        string
	Description string
	Needs       []string // programs that some variant cannot do without
}

// Shipped are the experiments that ship inside dyno, by name.
func Shipped() []Listing {
	var all []Listing
	for _, name := range shippedNames() {
		e, err := Open(name)
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

// Open is a shipped experiment. It is in no folder: Here is "".
func Open(name string) (*Experiment, error) {
	text, err := shipped.ReadFile("shipped/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("%q is not an experiment that ships with dyno%s", name,
			orAllowed(name, shippedNames()))
	}
	e, err := Read(name, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	e.Here = ""
	return e, nil
}

func shippedNames() []string {
	entries, _ := shipped.ReadDir("shipped") // an embedded folder is always there
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), path.Ext(e.Name()))
	}
	return names
}
