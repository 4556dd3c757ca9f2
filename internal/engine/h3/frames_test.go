package h3

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/quic-go/quic-go/quicvarint"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
	"dyno/internal/engine/proto/prototest"
)

// frame is a frame of HTTP/3.
func frame(kind uint64, payload string) string {
	b := quicvarint.Append(quicvarint.Append(nil, kind), uint64(len(payload)))
	return string(b) + payload
}

// appendField is a field as the codec writes it.
func appendField(b []byte, name, value string) []byte {
	return coding{}.AppendField(b, []byte(name), []byte(value))
}

// headers is HEADERS with those fields, name and value by turns.
func headers(fields ...string) string {
	list := []byte{0, 0}
	for i := 0; i < len(fields); i += 2 {
		list = appendField(list, fields[i], fields[i+1])
	}
	return frame(frameHeaders, string(list))
}

// feed reads a stream in pieces.
func feed(stream string, size int, frames *frameReader, user frameUser) error {
	for in := []byte(stream); len(in) > 0; {
		n := min(size, len(in))
		piece := bytes.Clone(in[:n])
		if err := frames.readFrames(piece, user); err != nil {
			return err
		}
		clear(piece) // the next piece comes into the same memory
		in = in[n:]
	}
	return nil
}

// A reading is a response of which the codec is told.
type reading struct {
	response
	given prototest.Record
}

// read reads a stream in pieces, and says how it ended: "ok", or what was wrong.
func read(t *testing.T, stream string, size int, bare bool, want proto.Want) (*reading, string) {
	t.Helper()
	r := &reading{response: response{want: &want}}
	r.beginResponse(0, bare)
	ended := feed(stream, size, &r.frames, &r.response)
	if ended == nil {
		ended = r.finishResponse()
	}
	var texts []string
	for in := r.records; len(in) > 0; {
		told, n := parseRecord(in)
		if n <= 0 {
			t.Fatalf("%x is no record", in)
		}
		in = in[n:]
		switch told.what {
		case head:
			texts = append(texts, fmt.Sprint(told.n))
		case field, trailer:
			r.given.Field(0, told.text[:told.n], told.text[told.n:], told.what == trailer)
		case piece:
			r.given.Body(0, told.text)
		}
	}
	var broken *violation
	var fault *proto.Fault
	switch {
	case errors.As(ended, &fault):
		texts = append(texts, fault.Kind+": "+fault.Detail)
	case errors.As(ended, &broken):
		texts = append(texts, fmt.Sprintf("%v %s", broken.code, broken.what))
	case ended != nil:
		texts = append(texts, ended.Error())
	default:
		texts = append(texts, fmt.Sprint("ok ", r.Got))
	}
	return r, strings.Join(texts, ", ")
}

// What streams of responses mean, however they are cut.
func TestResponses(t *testing.T) {
	ok, of3 := headers(":status", "200"), headers(":status", "200", "content-length", "3")
	long, failed := strings.Repeat("x", 70), "QPACK_DECOMPRESSION_FAILED "
	const malformed = "malformed: malformed response: "
	const tooLong = "oversized: the response header is longer than 256 KiB"
	for name, tc := range map[string]struct {
		stream string
		bare   bool
		want   string
	}{
		"empty":                   {ok, false, "200, ok 0"},
		"a body":                  {of3 + frame(0, "ab") + frame(0, "") + frame(0, "c"), false, "200, ok 3"},
		"a trailer":               {ok + frame(0, "ab") + headers("a", "b"), false, "200, ok 2"},
		"interim":                 {headers(":status", "103", "link", "x") + ok, false, "200, ok 0"},
		"unknown frames":          {frame(0x21, long) + ok + frame(0x40, "") + frame(0, "a") + frame(1<<40, long), false, "200, ok 1"},
		"HEAD":                    {of3, true, "200, ok 0"},
		"HEAD and a body":         {of3 + frame(0, "abc"), true, "200, unasked: " + proto.ForbiddenBody(200, nil).Detail},
		"304, no bytes of a body": {headers(":status", "304", "content-length", "3") + frame(0, ""), false, "304, ok 0"},
		"nothing":                 {"", false, malformed + "it ended before its final header"},
		"only interim":            {headers(":status", "100"), false, malformed + "it ended before its final header"},
		"endless interim": {strings.Repeat(headers(":status", "100"), fields.MaxInterim+1) + ok, false,
			"oversized: more than 64 interim (1xx) responses to one request"},
		"cut in a frame":           {ok + frame(0, "abc")[:3], false, "200, H3_FRAME_ERROR a stream ended inside a frame"},
		"cut in a head":            {ok + "\x00", false, "200, H3_FRAME_ERROR a stream ended inside a frame"},
		"cut in a header":          {headers(":status", "200", "a", "b")[:4], false, "H3_FRAME_ERROR a stream ended inside a frame"},
		"too short":                {of3 + frame(0, "a"), false, "200, framing: the stream ended after 1 of 3 bytes of body"},
		"too short, a trailer":     {of3 + frame(0, "a") + headers("a", "b"), false, "200, framing: the stream ended after 1 of 3 bytes of body"},
		"too long":                 {of3 + frame(0, "ab") + frame(0, "cd"), false, "200, framing: the body is longer than the 3 bytes of its content-length"},
		"a bad header":             {headers("a", "b"), false, malformed + "it has no :status"},
		"a bad trailer":            {ok + headers(":status", "200"), false, "200, " + malformed + "its trailer has a :status"},
		"DATA first":               {frame(0, "a"), false, "H3_FRAME_UNEXPECTED DATA before the header"},
		"DATA behind interim":      {headers(":status", "100") + frame(0, "a"), false, "H3_FRAME_UNEXPECTED DATA before the header"},
		"DATA last":                {ok + headers("a", "b") + frame(0, "a"), false, "200, H3_FRAME_UNEXPECTED DATA behind the trailer"},
		"a third header":           {ok + headers("a", "b") + headers("a", "b"), false, "200, H3_FRAME_UNEXPECTED HEADERS behind the trailer"},
		"SETTINGS":                 {ok + frame(4, ""), false, "200, H3_FRAME_UNEXPECTED a frame of type 4 on the stream of a request"},
		"GOAWAY":                   {ok + frame(7, "\x04"), false, "200, H3_FRAME_UNEXPECTED a frame of type 7 on the stream of a request"},
		"CANCEL_PUSH":              {frame(3, "\x00"), false, "H3_FRAME_UNEXPECTED a frame of type 3 on the stream of a request"},
		"PUSH_PROMISE":             {ok + frame(5, ""), false, "200, H3_ID_ERROR a frame about a push, which we do not allow"},
		"PRIORITY of HTTP/2":       {frame(2, ""), false, "H3_FRAME_UNEXPECTED a frame of HTTP/2's type 2"},
		"PING of HTTP/2":           {frame(6, ""), false, "H3_FRAME_UNEXPECTED a frame of HTTP/2's type 6"},
		"WINDOW_UPDATE of HTTP/2":  {frame(8, ""), false, "H3_FRAME_UNEXPECTED a frame of HTTP/2's type 8"},
		"CONTINUATION of HTTP/2":   {ok + frame(9, ""), false, "200, H3_FRAME_UNEXPECTED a frame of HTTP/2's type 9"},
		"PRIORITY_UPDATE":          {ok + frame(0xf0700, ""), false, "200, H3_FRAME_UNEXPECTED a frame of type 0xf0700, which only clients send"},
		"a reserved frame last":    {ok + headers("a", "b") + frame(0x21, long), false, "200, ok 0"},
		"a base below 0":           {frame(1, "\x00\x80\xd9"), false, failed + errBase.Error()},
		"a base that says nothing": {frame(1, "\x00\x7f\x81\x01\xd9"), false, "200, ok 0"},
		"MAX_PUSH_ID":              {frame(0xd, ""), false, "H3_FRAME_UNEXPECTED a frame of type 0xd, which only clients send"},
		"a header without end":     {frame(1, "")[:1] + "\x80\x04\x00\x01", false, tooLong},
		"a table":                  {frame(1, "\x01\x00\xd9"), false, failed + errPrefix.Error()},
		"a table's field":          {frame(1, "\x00\x00\xd9\x80"), false, failed + errDynamic.Error()},
		"a table's name":           {frame(1, "\x00\x00\xd9\x40\x00"), false, failed + errDynamic.Error()},
		"behind the base":          {frame(1, "\x00\x00\xd9\x10"), false, failed + errDynamic.Error()},
		"beyond the table":         {frame(1, "\x00\x00\xff\x24"), false, failed + errIndex.Error()},
		"a cut string":             {frame(1, "\x00\x00\xd9\x5f\x1d\x05ab"), false, failed + "a string is longer than the block"},
		"no prefix":                {frame(1, "\x00"), false, failed + errCut.Error()},
		"an empty block":           {frame(1, ""), false, failed + errCut.Error()},
		"a long list":              {frame(1, "\x00\x00\xd9"+strings.Repeat("\xfa", 10_000)), false, tooLong},
	} {
		for _, size := range []int{len(tc.stream) + 1, 1, 7} {
			if _, got := read(t, tc.stream, size, tc.bare, proto.Want{}); got != tc.want {
				t.Errorf("%s, %d bytes at a time: %s; want %s", name, size, got, tc.want)
			}
		}
	}
}

// What is wanted of a response is given in its order, and nothing of interim ones.
func TestGiven(t *testing.T) {
	stream := headers(":status", "103", "b", "early") + headers(":status", "200", "b", "2", "set-cookie", "x=1",
		"x-content-type-options", "nosniff", "b", "a\tü") + frame(0, "hello") + frame(0, ", world") + headers("b", "last")
	for _, size := range []int{1 << 10, 1, 5} {
		r, how := read(t, stream, size, false, proto.Want{Body: 7, Fields: []string{"b", "x-content-type-options"}})
		got := r.given.String()
		want := "0 b: 2;0 x-content-type-options: nosniff;0 b: a\tü;0 hello, ;0 b: last (trailer);"
		if how != "200, ok 12" || got != want {
			t.Errorf("%s: given %q; want %q", how, got, want)
		}
	}
}

// Every field of the static table is found there, and every other text is read as it was written.
func TestFields(t *testing.T) {
	for i, f := range staticTable {
		if b := appendField(nil, f.Name, f.Value); b[0]&0xc0 != 0xc0 {
			t.Errorf("%d, %s: %s is a literal, %x", i, f.Name, f.Value, b)
		}
	}
	all := []proto.Field{{Name: ":status", Value: "418"}, {Name: "a", Value: ""}, {Name: "cookie", Value: "a=b"},
		{Name: strings.Repeat("n", 200), Value: strings.Repeat("\xfc{", 200)}}
	b := []byte{0, 0}
	for _, f := range all {
		b = appendField(b, f.Name, f.Value)
	}
	for _, name := range []string{"cookie", "proxy-authorization"} { // one in the table, one not
		if first := appendField(nil, name, "x")[0]; first&0xf0 != 0x70 && first&0xf0 != 0x30 {
			t.Errorf("%s begins with %x: it may get into a table", name, first)
		}
	}
	var got []proto.Field
	var s section
	h, err := s.decodeBlock(b, func(_ *fields.Header, name, value []byte) {
		got = append(got, proto.Field{Name: string(name), Value: string(value)})
	})
	if err != nil || h.Status != 418 || !reflect.DeepEqual(got, all) {
		t.Errorf("%v, %v", got, err)
	}
}

// However a stream is cut, it says the same. What is kept of it is bounded.
func FuzzResponse(f *testing.F) {
	f.Add([]byte(headers(":status", "200", "content-length", "3")+frame(0, "abc")), uint8(0), false)
	f.Add([]byte(headers(":status", "103")+headers(":status", "200", "server", "x")+frame(0x21, "y")+
		frame(0, "abc")+headers("a", "b")), uint8(4), false)
	f.Add([]byte(frame(1, "\x00\x00\xd9\xff\x24\x5f\x27\x85")), uint8(2), true)
	f.Fuzz(func(t *testing.T, stream []byte, chunk uint8, bare bool) {
		want := proto.Want{AllFields: true, Body: 9}
		whole, how := read(t, string(stream), len(stream)+1, bare, want)
		cut, cutHow := read(t, string(stream), int(chunk)+1, bare, want)
		if how != cutHow || whole.given.String() != cut.given.String() {
			t.Errorf("whole: %s, %q; cut: %s, %q", how, whole.given.String(), cutHow, cut.given.String())
		}
		if n := max(cap(whole.frames.kept), cap(cut.frames.kept)); n > 2*fields.MaxHead {
			t.Errorf("%d bytes are kept", n)
		}
		_, plain := read(t, string(stream), len(stream)+1, bare, proto.Want{})
		if plain != how {
			t.Errorf("%s; where nothing is wanted, %s", how, plain)
		}
	})
}
