package h3

import (
	"reflect"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
)

// records are one of each kind.
var records = []record{
	{what: ask, id: 7<<32 | 3, n: 2}, {what: giveUp, id: 1},
	{what: askOwn, id: 8, n: ownN(true, 7), text: []byte("text")},
	{what: shaken, n: 1}, {what: head, id: 5, n: 404}, {what: done, id: 5, n: 1 << 40},
	{what: refused, id: 1<<64 - 1}, {what: leaving, n: 3}, {what: alive},
	{what: failed, id: 9, fault: proto.Fault{Kind: "rst-internal-error", Detail: "why"}},
	{what: broken, fault: proto.Fault{Kind: proto.FaultViolation}},
	{what: field, id: 5, n: 1, text: []byte("ab")}, {what: trailer, id: 5, n: 2, text: []byte("ab")},
	{what: piece, id: 5, text: []byte("body")},
}

// What was appended is read again, and not before all of it is there.
func TestRecords(t *testing.T) {
	for _, want := range records {
		b := want.appendTo(nil)
		for cut := range b {
			if _, n := parseRecord(b[:cut]); n != 0 {
				t.Errorf("%v: %d of its %d bytes are a record of %d", want, cut, len(b), n)
			}
		}
		if got, n := parseRecord(append(b, 1, 2, 3)); !reflect.DeepEqual(got, want) || n != len(b) {
			t.Errorf("%v, of %d bytes; got %v, of %d", want, len(b), got, n)
		}
	}
	longName := record{what: field, n: 3, text: []byte("ab")}.appendTo(nil)
	for _, b := range [][]byte{{0}, {byte(len(parts))}, {255, 1, 2}, longName} {
		if _, n := parseRecord(b); n != -1 {
			t.Errorf("%v is taken for a record of %d bytes", b, n)
		}
	}
	long := record{what: broken, fault: proto.Fault{Kind: strings.Repeat("k", 1000),
		Detail: strings.Repeat("d", 1<<20)}}
	if got, _ := parseRecord(long.appendTo(nil)); len(got.fault.Kind) != kindMost ||
		len(got.fault.Detail) != detailMost {
		t.Errorf("%d and %d bytes of a long fault", len(got.fault.Kind), len(got.fault.Detail))
	}
}

func FuzzParse(f *testing.F) {
	for _, r := range records {
		f.Add(r.appendTo(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, n := parseRecord(b)
		if n > len(b) {
			t.Fatalf("%d bytes of %d", n, len(b))
		}
		if n > 0 && string(r.appendTo(nil)) != string(b[:n]) {
			t.Errorf("%v is not what it was read from, %x", r, b[:n])
		}
	})
}
