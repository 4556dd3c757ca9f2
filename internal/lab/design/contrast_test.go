package design

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dyno/internal/lab/experiment"
)

const factored = `version: 1
name: factors
factors: {log: ["on", "off"], workers: ["1", "2", "4"]}
variants:
  nginx: {url: "http://127.0.0.1:8080/{{log}}/{{workers}}"}
`

// contrastText is a contrast in a line.
func contrastText(c Contrast) string {
	var pairs []string
	for _, p := range c.Pairs {
		by := "/"
		if p.Inverse {
			by = `\`
		}
		pairs = append(pairs, shortPair(p.Variant)+by+shortPair(p.Baseline))
	}
	return fmt.Sprintf("%s | %s | %s", c.Name, c.Baseline, strings.Join(pairs, " "))
}

// shortPair is the values of a variant's name: "off,2".
func shortPair(name string) string {
	var values []string
	for _, word := range strings.Fields(name)[1:] {
		_, value, _ := strings.Cut(word, "=")
		values = append(values, value)
	}
	return strings.Join(values, ",")
}

func TestContrasts(t *testing.T) {
	e := mustRead(t, factored)
	var all, most []string
	for _, v := range experiment.Expand(e) {
		all = append(all, v.Name)
		if v.Name != "nginx log=off workers=4" {
			most = append(most, v.Name)
		}
	}
	for _, test := range []struct {
		name   string
		loaded []string
		want   []string
	}{
		{"all are loaded", all, []string{
			"log=off | log=on | off,1/on,1 off,2/on,2 off,4/on,4",
			"workers=2 | workers=1 | on,2/on,1 off,2/off,1",
			"workers=4 | workers=1 | on,4/on,1 off,4/off,1",
			"workers=4 | workers=2 | on,4/on,2 off,4/off,2",
			`log=off and workers=2 | each alone | off,2/on,2 off,1\on,1`,
			`log=off and workers=4 | each alone | off,4/on,4 off,1\on,1`}},
		{"one is not tested", most, []string{
			"log=off | log=on | off,1/on,1 off,2/on,2",
			"workers=2 | workers=1 | on,2/on,1 off,2/off,1",
			"workers=4 | workers=1 | on,4/on,1",
			"workers=4 | workers=2 | on,4/on,2",
			`log=off and workers=2 | each alone | off,2/on,2 off,1\on,1`}},
		{"one is loaded", all[:1], nil},
	} {
		var got []string
		for _, c := range Contrasts(e, test.loaded) {
			got = append(got, contrastText(c))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\n\t%s\nwant\n\t%s", test.name, strings.Join(got, "\n\t"),
				strings.Join(test.want, "\n\t"))
		}
	}
}

// Of several definitions each has contrasts of its own, named after it, and a definition without
// factors has none.
func TestContrastsOfDefinitions(t *testing.T) {
	e := mustRead(t, strings.Replace(factored, "variants:\n", "variants:\n"+
		"  plain: {url: \"http://127.0.0.1:8081/\"}\n"+
		"  go: {url: \"http://127.0.0.1:8082/{{log}}\"}\n", 1))
	var loaded, got []string
	for _, v := range experiment.Expand(e) {
		loaded = append(loaded, v.Name)
	}
	for _, c := range Contrasts(e, loaded) {
		got = append(got, c.Name)
	}
	want := []string{"go log=off", "nginx log=off", "nginx workers=2", "nginx workers=4",
		"nginx workers=4", "nginx log=off and workers=2", "nginx log=off and workers=4"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
