package h2

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"

	"dyno/internal/engine/proto/fields"
)

// appendField is a field as the codec writes it.
func appendField(b []byte, name, value string) []byte {
	return coding{}.AppendField(b, []byte(name), []byte(value))
}

// golang.org/x/net knows HPACK independently of us.
func TestTables(t *testing.T) {
	dec := hpack.NewDecoder(defaultTable, nil)
	for i, f := range staticTable {
		got, err := dec.DecodeFull([]byte{0x80 | byte(i+1)})
		if err != nil || got[0].Name != f.Name || got[0].Value != f.Value {
			t.Errorf("index %d: %v, %v", i+1, got, err)
		}
	}
}

// What we encode, others read as it was meant.
func TestEncoding(t *testing.T) {
	for _, tc := range [][2]string{{":method", "GET"}, {":method", "DELETE"}, {":path", "/"},
		{":path", "/a?b=" + strings.Repeat("c", 1000)}, {"x-own", "v"}, {"cookie", "secret"},
		{"accept-encoding", "gzip, deflate"}, {"user-agent", ""}, {"x", "\xff\xfe\x01"}} {
		got, err := hpack.NewDecoder(0, nil).DecodeFull(appendField(nil, tc[0], tc[1]))
		if err != nil || len(got) != 1 || got[0].Name != tc[0] || got[0].Value != tc[1] {
			t.Errorf("%v: %v, %v", tc, got, err)
		}
		if len(got) == 1 && got[0].Sensitive != (tc[0] == "cookie") {
			t.Errorf("%v: sensitive is %v", tc, got[0].Sensitive)
		}
	}
}

// Our decoder follows another's encoder through everything that changes a table:
// the same status, length and sizes come out, and at the end the same table.
func TestDecoder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	names := []string{"server", "date", "x-own", "content-type", "content-length", "set-cookie", "a"}
	for round := range 20 {
		var wire bytes.Buffer
		enc := hpack.NewEncoder(&wire)
		d := newDecoder(&scratch{}, nil, nil)
		for i := range 200 {
			wire.Reset()
			if rng.IntN(20) == 0 {
				enc.SetMaxDynamicTableSize(uint32(rng.IntN(defaultTable + 1)))
			}
			status, length, size := 200+rng.IntN(5), -1, 0
			write := func(name, value string) {
				sensitive := rng.IntN(5) == 0
				enc.WriteField(hpack.HeaderField{Name: name, Value: value, Sensitive: sensitive})
				size += len(name) + len(value) + fields.Overhead
			}
			write(":status", strconv.Itoa(status))
			for range rng.IntN(10) {
				name, value := names[rng.IntN(len(names))], fmt.Sprint(rng.IntN(1+round))
				if name == "content-length" {
					if length >= 0 {
						continue
					}
					length = rng.IntN(1000)
					value = strconv.Itoa(length)
				} else if rng.IntN(10) == 0 {
					value = strings.Repeat("v", rng.IntN(2*defaultTable))
				}
				write(name, value)
			}
			h, err := d.decodeBlock(wire.Bytes())
			if err != nil || h.Status != uint16(status) || h.Length != int64(length) || h.Size != size {
				t.Fatalf("round %d, block %d: %+v, want %d, %d, %d, %v", round, i, h, status, length, size, err)
			}
		}
	}
}

// A block that says all by itself does the same to the table the second time,
// whichever connection it comes on.
func TestKnownBlock(t *testing.T) {
	shared := &scratch{}
	a, b := newDecoder(shared, nil, nil), newDecoder(shared, nil, nil)
	block := []byte(ok + "\x76\x05nginx" + "\x40\x01x\x03abc" + "\x0f\x0d\x0212")
	for i := range 5 {
		ha, errA := a.decodeBlock(block)
		if i == 0 && len(shared.known.block) != len(block) {
			t.Fatal("the block is not known")
		}
		hb, errB := b.decodeBlock(block)
		if ha != hb || errA != nil || errB != nil || ha.Length != 12 {
			t.Fatalf("%+v %v, %+v %v", ha, errA, hb, errB)
		}
		if a.size != (i+1)*(6+5+fields.Overhead+1+3+fields.Overhead) || a.size != b.size || a.count != 2*(i+1) {
			t.Fatalf("%d and %d bytes in the tables", a.size, b.size)
		}
	}
	h, err := a.decodeBlock([]byte("\x88\xbe\xbf"))
	if err != nil || h.Size != 42+1+3+fields.Overhead+6+5+fields.Overhead {
		t.Errorf("%+v, %v", h, err)
	}
	if string(shared.known.block) != string(block) {
		t.Error("a block that asks the table is taken for one that does not")
	}
}

// A typical response header, as nginx and as Go write it.
func BenchmarkHeader(b *testing.B) {
	all := []hpack.HeaderField{{Name: ":status", Value: "200"},
		{Name: "server", Value: "nginx/1.26.0"}, {Name: "date", Value: "Mon, 06 Jan 2025 10:00:00 GMT"},
		{Name: "content-type", Value: "text/plain; charset=utf-8"}, {Name: "content-length", Value: "12"}}
	var wire bytes.Buffer
	enc := hpack.NewEncoder(&wire)
	for _, f := range all {
		enc.WriteField(f)
	}
	first := bytes.Clone(wire.Bytes())
	wire.Reset()
	for _, f := range all {
		enc.WriteField(f)
	}
	again := bytes.Clone(wire.Bytes())
	theirs := func(b *testing.B, prime, block []byte) {
		dec := hpack.NewDecoder(defaultTable, func(hpack.HeaderField) {})
		dec.Write(prime)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := dec.Write(block); err != nil {
				b.Fatal(err)
			}
		}
	}
	ours := func(b *testing.B, prime, block []byte, known bool) {
		d := newDecoder(&scratch{}, nil, nil)
		d.decodeBlock(prime)
		b.ReportAllocs()
		for b.Loop() {
			if !known {
				d.known.block = d.known.block[:0]
			}
			if h, err := d.decodeBlock(block); err != nil || h.Status != 200 {
				b.Fatal(h, err)
			}
		}
	}
	b.Run("literal/x-net", func(b *testing.B) { theirs(b, nil, first) })
	b.Run("literal/ours", func(b *testing.B) { ours(b, nil, first, false) })
	b.Run("literal/known", func(b *testing.B) { ours(b, nil, first, true) })
	b.Run("indexed/x-net", func(b *testing.B) { theirs(b, first, again) })
	b.Run("indexed/ours", func(b *testing.B) { ours(b, first, again, true) })
}

// The texts of a table's entries are those that were added, whatever is evicted meanwhile.
func FuzzTexts(f *testing.F) {
	f.Add([]byte{1, 200, 31, 7, 255, 0, 90}, uint16(4096))
	f.Add([]byte{255, 255, 255, 254, 253, 1, 1, 1, 255}, uint16(4096))
	f.Fuzz(func(t *testing.T, sizes []byte, max uint16) {
		table := newTable()
		table.texts = new(texts)
		table.resizeTable(min(int(max), defaultTable))
		var want []string
		for i, n := range sizes {
			value := bytes.Repeat([]byte{byte('a' + i%26)}, int(n)*16)
			f := fields.Named([]byte("x-name")).With(value)
			table.addField(&f, []byte("x-name"), value)
			want = append(want, string(value))
			for k := range table.count {
				name, value := table.textAt(len(staticFields) + k)
				if string(name) != "x-name" || string(value) != want[len(want)-1-k] {
					t.Fatalf("after %v: entry %d is %q of %d bytes", sizes[:i+1], k, name, len(value))
				}
			}
		}
	})
}
