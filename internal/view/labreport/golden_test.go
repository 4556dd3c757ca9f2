package labreport

import (
	"flag"
	"testing"

	"dyno/internal/view/reporttest"
)

// make goldens sets it, for every package that has goldens.
var update = flag.Bool("update", false, "write the golden files")

// golden compares got with the file of that name, or writes the file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	reporttest.Golden(t, name, got, *update)
}
