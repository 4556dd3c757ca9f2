package content

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// encoded is a text with codings, in the order of a Content-Encoding.
func encoded(t testing.TB, text []byte, all ...string) []byte {
	t.Helper()
	for _, coding := range all {
		var b bytes.Buffer
		var w io.WriteCloser
		switch coding {
		case "gzip":
			w = gzip.NewWriter(&b)
		case "deflate":
			w = zlib.NewWriter(&b)
		case "deflate without header":
			f, err := flate.NewWriter(&b, flate.BestSpeed)
			if err != nil {
				t.Fatal(err)
			}
			w = f
		case "br":
			w = brotli.NewWriter(&b)
		default:
			z, err := zstd.NewWriter(&b)
			if err != nil {
				t.Fatal(err)
			}
			w = z
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		text = b.Bytes()
	}
	return text
}

// Bodies are decoded, one after the other by the same decoder, whatever was wrong with one.
func TestDecode(t *testing.T) {
	d := new(Decoder)
	text := []byte(strings.Repeat("answer ", 1000))
	for range 2 {
		for encoding, all := range map[string][]string{"gzip": {"gzip"}, "X-Gzip": {"gzip"}, "br": {"br"},
			"zstd": {"zstd"}, "deflate": {"deflate"}, "Deflate": {"deflate without header"},
			"gzip, br": {"gzip", "br"}, "zstd,identity , GZIP,br": {"zstd", "gzip", "br"}} {
			body := encoded(t, text, all...)
			got, more, err := d.Decode([]byte(encoding), body, true, 1<<20)
			if !bytes.Equal(got, text) || more || err != nil {
				t.Errorf("%s: %d bytes, more %v, %v", encoding, len(got), more, err)
			}
			got, more, err = d.Decode([]byte(encoding), body, true, 100)
			if !bytes.Equal(got, text[:100]) || !more || err != nil {
				t.Errorf("%s, 100 bytes: %d, more %v, %v", encoding, len(got), more, err)
			}
			if len(all) > 1 {
				continue // the end of the outer one may say nothing
			}
			got, more, err = d.Decode([]byte(encoding), body[:len(body)-1], false, 1<<20)
			if !bytes.HasPrefix(text, got) || !more || err != nil {
				t.Errorf("%s, cut by us: %d bytes, more %v, %v", encoding, len(got), more, err)
			}
			if _, _, err = d.Decode([]byte(encoding), body[:len(body)-1], true, 1<<20); err == nil {
				t.Errorf("%s, cut by the server: no error", encoding)
			}
			if _, _, err = d.Decode([]byte(encoding), text, true, 1<<20); err == nil {
				t.Errorf("%s of a plain text: no error", encoding)
			}
		}
	}
}

// A body without a coding is as it is.
func TestIdentity(t *testing.T) {
	for _, encoding := range []string{"", "identity", " Identity, identity"} {
		got, more, err := new(Decoder).Decode([]byte(encoding), []byte("answer"), true, 4)
		if string(got) != "answ" || !more || err != nil {
			t.Errorf("%q: %q, more %v, %v", encoding, got, more, err)
		}
	}
}

// A body that unpacks to far more gives as much as was asked for, and takes no more memory.
func TestBombs(t *testing.T) {
	d := new(Decoder)
	bomb := make([]byte, 16<<20)
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		body := encoded(t, bomb, coding)
		got, more, err := d.Decode([]byte(coding), body, true, 1<<20)
		if len(got) != 1<<20 || !more || err != nil {
			t.Errorf("%s: %d bytes, more %v, %v", coding, len(got), more, err)
		}
		if n := d.out.Cap(); n > 8<<20 {
			t.Errorf("%s: %d bytes of memory for 1 MiB", coding, n)
		}
	}
}

// Layers of nothing do not multiply: what is between two codings is limited, too.
func TestBombsInLayers(t *testing.T) {
	empty := bytes.Repeat(encoded(t, nil, "gzip"), 100_000) // 2 MB that stand for nothing
	body := encoded(t, empty, "gzip")
	if got, more, err := new(Decoder).Decode([]byte("gzip, gzip"), body, true, 1000); err == nil {
		t.Errorf("%d bytes, more %v: all of %d bytes between the codings were read", len(got), more, len(empty))
	}
}

// Codings that are not known, and too many, are left to the caller.
func TestKnows(t *testing.T) {
	for encoding, want := range map[string]bool{"gzip": true, "": true, "identity": true, "deflate": true,
		"gzip, compress": false, "br,br,br,br": true, "br,br,br,br,br": false, " ZSTD ": true} {
		if got := Knows([]byte(encoding)); got != want {
			t.Errorf("%q: %v", encoding, got)
		}
	}
}

// Whatever a server sends, decoding ends, and with no more than was asked for.
func FuzzDecode(f *testing.F) {
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		f.Add(coding, encoded(f, []byte("answer"), coding))
	}
	d := new(Decoder)
	f.Fuzz(func(t *testing.T, encoding string, body []byte) {
		if !Knows([]byte(encoding)) {
			return
		}
		if got, _, _ := d.Decode([]byte(encoding), body, true, 1000); len(got) > 1000 {
			t.Errorf("%d bytes", len(got))
		}
	})
}
