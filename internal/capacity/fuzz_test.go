package capacity

import (
	"encoding/json"
	"testing"
)

// FuzzDecode reads whatever comes as a search or a sweep: it is one of them or an error.
func FuzzDecode(f *testing.F) {
	for _, v := range []any{Search{Format: Format}, Curve{Format: SweepFormat}, struct{}{}} {
		b, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, c, known, err := Decode(b)
		if one := (s == nil) != (c == nil); err == nil && one != known {
			t.Errorf("%v, %v, %v", s, c, known)
		}
	})
}
