package reporttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

// eachText calls do with each text of a JSON document, while that text is another.
func eachText(v any, at string, other func(string) string, do func(at string)) {
	each := func(at string, child any, set func(any)) {
		s, is := child.(string)
		if !is {
			eachText(child, at, other, do)
			return
		}
		set(other(s))
		do(at)
		set(s)
	}
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			each(at+"."+key, child, func(to any) { v[key] = to })
		}
	case []any:
		for i, child := range v {
			each(fmt.Sprintf("%s[%d]", at, i), child, func(to any) { v[i] = to })
		}
	}
}

// ForgeLines puts a line of its own into each text of a document, one after the other, and checks
// that what write makes of it has no such line. It returns for how many texts write succeeded.
func ForgeLines(t *testing.T, name string, document any,
	write func(w io.Writer, document []byte) error) (tried int) {
	t.Helper()
	b, err := json.Marshal(document)
	var tree any
	if err != nil || json.Unmarshal(b, &tree) != nil {
		t.Fatal(err)
	}
	other := func(s string) string { return s + "x\n  forged" }
	eachText(tree, name, other, func(at string) {
		b, err := json.Marshal(tree)
		var out bytes.Buffer
		if err != nil || write(&out, b) != nil {
			return // what it was is read
		}
		tried++
		if i := strings.Index(out.String(), "\n  forged"); i >= 0 {
			t.Errorf("%s: %q", at, out.String()[max(0, i-60):i+9])
		}
	})
	return tried
}
