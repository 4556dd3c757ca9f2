package h2

import (
	"fmt"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
)

func lines(all ...string) (h []proto.Field) {
	for _, l := range all {
		name, value, _ := strings.Cut(l, ": ")
		h = append(h, proto.Field{Name: name, Value: value})
	}
	return h
}

func TestWire(t *testing.T) {
	long := strings.Repeat("l", 100_000)
	for _, tc := range []struct {
		name    string
		options Options
		request proto.Request
		want    string
	}{
		{"plain", Options{Defaults: []proto.Field{{Name: "User-Agent", Value: "dyno/1"}}}, get,
			":method=GET|:scheme=http|:authority=x|:path=/|user-agent=dyno/1|end"},
		{"nothing hidden", Options{Scheme: "https"}, get,
			":method=GET|:scheme=https|:authority=x|:path=/|end"},
		{"theirs", Options{Defaults: []proto.Field{{Name: "User-Agent", Value: "dyno/1"}}}, proto.Request{Method: "GET", Authority: "x",
			Path: "/a?b=c", Header: lines("A: b", "hOsT: other", "A: c", "User-Agent: mine", "Empty",
				"TE: trailers", "Spaced:  v ")}, ":method=GET|:scheme=http|:authority=other|:path=/a?b=c|" +
			"a=b|a=c|user-agent=mine|empty=|te=trailers|spaced=v|end"},
		{"body", Options{}, proto.Request{Method: "GET", Authority: "x", Path: "/", Body: []byte("hi")},
			":method=GET|:scheme=http|:authority=x|:path=/|content-length=2|+2|end"},
		{"POST of nothing", Options{}, proto.Request{Method: "POST", Authority: "x", Path: "/"},
			":method=POST|:scheme=http|:authority=x|:path=/|content-length=0|end"},
		{"their length", Options{}, proto.Request{Method: "PUT", Authority: "x", Path: "/",
			Header: lines("Content-Length: 2"), Body: []byte("hi")},
			":method=PUT|:scheme=http|:authority=x|:path=/|content-length=2|+2|end"},
		{"OPTIONS *", Options{}, proto.Request{Method: "OPTIONS", Path: "*"},
			":method=OPTIONS|:scheme=http|:path=*|end"},
		{"any size", Options{}, proto.Request{Method: "GET", Authority: "x", Path: "/" + long,
			Header: lines("Cookie: " + long)},
			":method=GET|:scheme=http|:authority=x|:path=/" + long + "|cookie=" + long + "|end"},
	} {
		c, r := begin(t, tc.options, settled, tc.request)
		r.hpack.SetMaxStringLength(1 << 20)
		for id := uint32(1); id < 6; id += 2 {
			r.read(c.Encode(nil, proto.Message{}, id))
			var got []string
			for _, f := range r.headers[id] {
				got = append(got, fmt.Sprintf("%s=%s", f.Name, f.Value))
			}
			if n := r.body[id]; n > 0 {
				got = append(got, fmt.Sprintf("+%d", n))
			}
			if r.ended[id] {
				got = append(got, "end")
			}
			if s := strings.Join(got, "|"); s != tc.want {
				t.Errorf("%s: stream %d: got %.300q, want %.300q", tc.name, id, s, tc.want)
			}
			hear(t, c, fr(frameHeaders, flagEndHeaders|flagEnd, id, ok))
		}
	}
}

// The first header block of a connection, and no other, gives up the dynamic
// table, so that whatever table size the server sets needs no answer.
func TestFirstBlock(t *testing.T) {
	c, _ := begin(t, Options{Streams: 2}, fr(frameSettings, 0, 0, set(1, 100)), get)
	if out := c.Encode(nil, proto.Message{}, 0); out[frameHeader] != noTable {
		t.Errorf("the first: %x", out)
	}
	if out := c.Encode(nil, proto.Message{}, 0); out[frameHeader] == noTable {
		t.Errorf("the second: %x", out)
	}
}

func TestProtocolRefuses(t *testing.T) {
	for _, o := range []Options{{}, {Scheme: "ftp"}, {Scheme: "http", Streams: fields.MaxStreams + 1},
		{Scheme: "http", Streams: -1}, {Scheme: "http", CloseAfter: -1},
		{Scheme: "http", Defaults: []proto.Field{{Name: "User-Agent", Value: "a\nb"}}}} {
		if _, err := Protocol(o)([]proto.Request{get}, proto.Want{}); err == nil {
			t.Errorf("%+v: taken", o)
		}
	}
	bad := proto.Request{Method: "GET", Path: "/", Header: lines("Connection: close")}
	_, err := Protocol(Options{Scheme: "http"})([]proto.Request{get, bad}, proto.Want{})
	if err == nil || !strings.Contains(err.Error(), "request 2") {
		t.Errorf("%v", err)
	}
}
