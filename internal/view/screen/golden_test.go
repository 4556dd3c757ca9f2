package screen

import (
	"flag"
	"testing"

	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// make goldens sets it, for every package that has goldens.
var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	reporttest.Golden(t, name, got, *update)
}

// paint is one for tests.
const paint format.Paint = "\x1bpaint-"
