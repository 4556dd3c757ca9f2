package result

import "testing"

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"format":"dyno.result/1","status":{"200":1}}`))
	f.Add([]byte(`{"format":"dyno.result/2"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := Decode(b); (r == nil) != (err != nil) {
			t.Errorf("%v, %v", r, err)
		}
	})
}
