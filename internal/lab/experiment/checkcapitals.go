package experiment

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// checkCapitals reports names that differ in capitals alone. They become names of files, which file
// systems of macOS and Windows do not tell apart.
func (c *checker) checkCapitals() {
	names, nodes := map[string]string{}, map[string]*yaml.Node{}
	check := func(among, name, path string, n *yaml.Node) {
		key := among + "\n" + strings.Map(smallLetter, name)
		if had := nodes[key]; had == nil {
			names[key], nodes[key] = name, n
		} else if names[key] != name {
			c.addFault(n, path, "%q and %q, at %s:%d:%d, differ in capitals alone, and their files would "+
				"be the same on macOS and Windows; write one of them otherwise", name, names[key],
				c.file, had.Line, had.Column)
		}
	}
	for _, v := range c.Variants {
		at := joinPath("variants", v.Name)
		check("variants", v.Name, at, c.keyAt(at))
		for i, p := range v.Value.Processes {
			one := fmt.Sprintf("%s.processes[%d].name", at, i)
			check(at, p.Name, one, c.nodeAt(one))
		}
	}
	for i, l := range c.Levels {
		at := fmt.Sprintf("levels[%d].name", c.entries[i])
		check("levels", l.Name, at, c.nodeAt(at))
	}
	for _, f := range c.Factors {
		for i, value := range f.Value {
			at := joinPath("factors", f.Name)
			one := fmt.Sprintf("%s[%d]", at, i)
			check(at, value, one, c.nodeAt(one))
		}
	}
}

// smallLetter is a letter of ASCII as a small one; names of files have no others.
func smallLetter(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r - 'A' + 'a'
	}
	return r
}
