package fields

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// golang.org/x/net knows the code independently of us.
func TestHuffman(t *testing.T) {
	for x := range 256 {
		s := strings.Repeat(string([]byte{byte(x)}), 8)
		if n := int(hpack.HuffmanEncodeLength(s)); n != int(codeLengths[x]) {
			t.Errorf("byte %d: %d bits, want %d", x, codeLengths[x], n)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		b := make([]byte, rng.IntN(40))
		for j := range b {
			b[j] = byte(rng.IntN(256))
			if i%2 == 0 {
				b[j] = byte(' ' + rng.IntN(95))
			}
		}
		want := hpack.AppendHuffmanString(nil, string(b))
		got := huffman.appendEncoded(nil, b)
		if !bytes.Equal(got, want) || huffman.encodedSize(b) != len(want) {
			t.Fatalf("%q: %x, want %x", b, got, want)
		}
		if back, ok := huffman.decodeHuffman(nil, got); !ok || !bytes.Equal(back, b) {
			t.Fatalf("%q: back as %q", b, back)
		}
	}
}

func FuzzHuffman(f *testing.F) {
	for _, s := range []string{"", "\xff", "\xfe", "\x00", "\xff\xff\xff\xff", "\xf1\xe3\xc2",
		"\xff\xff\xff\xff00001"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ok := huffman.decodeHuffman(nil, b)
		want, err := hpack.HuffmanDecodeToString(b)
		if ok != (err == nil) || ok && string(got) != want {
			t.Errorf("%x: %q %v, want %q %v", b, got, ok, want, err)
		}
	})
}
