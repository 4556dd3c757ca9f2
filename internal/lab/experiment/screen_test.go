package experiment

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// screened is an experiment with so many factors of two values.
func screened(k int) string {
	var factors, uses []string
	for j := range k {
		factors = append(factors, fmt.Sprintf("f%d: [a, b]", j))
		uses = append(uses, fmt.Sprintf("{{f%d}}", j))
	}
	return "version: 1\nname: s\ndesign: {screen: true}\nfactors: {" + strings.Join(factors, ", ") +
		"}\nvariants:\n  n: {url: \"http://127.0.0.1:8080/" + strings.Join(uses, "/") + "\"}\n"
}

// Effects that are put into every run come out of its contrasts exactly, and an interaction in its
// own contrast alone.
func TestScreenFaults(t *testing.T) {
	four := screened(4)
	for _, test := range []struct{ text, want string }{
		{screened(3), "is for 4 factors or more"},
		{strings.Replace(four, "f1: [a, b]", "f1: [a, b, c]", 1), "compares two values of each factor; here are 3"},
		{strings.Replace(four, "f1: [a, b]", "f1: [a]", 1), "here are 1"},
	} {
		_, err := Read("x.yaml", strings.NewReader(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v; want %s", err, test.want)
		}
	}
	names := map[string]bool{}
	for _, v := range Expand(mustRead(t, screened(16))) {
		names[v.Name] = true
	}
	if len(names) != 32 {
		t.Errorf("%d variants of 16 factors", len(names))
	}
	if v := Expand(mustRead(t, four)); !slices.Equal(v[0].values(), []string{"a", "a", "a", "a"}) {
		t.Errorf("the first run is %v: it is not that of the first values", v[0].values())
	}
}
