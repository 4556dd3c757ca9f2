package wire

import (
	"bytes"
	"compress/gzip"
	"testing"

	"dyno/load"
	"dyno/result"
)

// FuzzOpenFinal reads whatever an agent says that it has measured. The text is packed here, so
// that what is looked for lies behind the packing; what cannot be unpacked is tried as it is.
func FuzzOpenFinal(f *testing.F) {
	r, err := result.From(&load.Result{Plan: load.DefaultPlan(), Ended: load.Interrupted}, "v")
	if err != nil {
		f.Fatal(err)
	}
	packed := Final{Result: r, Start: 12, Late: 3, Why: "so"}.Close()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		f.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(z); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes(), true)
	f.Add([]byte(`{"error":"x"}`), true)
	f.Add([]byte(`{"result":{"requests":{"sent":9223372036854775807}}}`), true)
	f.Add(packed, false)
	f.Add(bytes.Repeat([]byte{0}, 1<<20), true) // 1 kB, packed
	f.Fuzz(func(t *testing.T, b []byte, pack bool) {
		if pack {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			z.Write(b)
			z.Close()
			b = packed.Bytes()
		}
		final, err := OpenFinal(b)
		if err != nil {
			return
		}
		if (final.Result == nil) == (final.Error == "") {
			t.Errorf("%+v is a final", final)
		}
		if final.Result != nil {
			_ = result.Check(final.Result)
		}
	})
}
