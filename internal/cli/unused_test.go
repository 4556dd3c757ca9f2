package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// Text that looks like another tool's hole is sent as it is where it belongs to a language, and a
// file of data or of variables may have more than a run uses.
func TestTextThatIsNoHole(t *testing.T) {
	dir := t.TempDir()
	data, variables := filepath.Join(dir, "d.csv"), filepath.Join(dir, "v")
	for name, text := range map[string]string{data: "id,email\n1,a@b\n", variables: "a=1\nb=2\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const url = "http://127.0.0.1:1/"
	for _, args := range [][]string{
		{"--data", data, "-b", `{"query":"{user(email:\"{{email}}\"){id}}"}`, url},
		{"--data", data, url + "graphql?query=%7Bme%7Bid%7D%7D&u={{email}}"},
		{"--variables-file", variables, url + "?x={{a}}"},
		{"--variable", "a=1", "--variable", "b=2", url + "?x={{a}}"}, // as a report's command has them
	} {
		if _, faults := readRun(args, nil); len(faults) > 0 {
			t.Errorf("%q: %v", args, faults)
		}
	}
}
