package fcgi

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
)

// read takes a request's records apart, as an application would.
func read(t *testing.T, b []byte) (begin, env, body []byte) {
	t.Helper()
	ended := map[byte]bool{}
	for len(b) > 0 {
		n := int(binary.BigEndian.Uint16(b[4:]))
		kind, content := b[1], b[header:header+n]
		if b[0] != version || b[2] != 0 || b[3] != requestID || ended[kind] {
			t.Fatalf("record %x", b[:header])
		}
		ended[kind] = n == 0
		switch kind {
		case beginRequest:
			begin = content
		case params:
			env = append(env, content...)
		case stdin:
			body = append(body, content...)
		}
		b = b[header+n+int(b[6]):]
	}
	if !ended[params] || !ended[stdin] {
		t.Fatal("a stream has no end")
	}
	return begin, env, body
}

// pairs takes name-value pairs apart.
func pairs(t *testing.T, b []byte) map[string]string {
	t.Helper()
	size := func() (n int) {
		if n = int(b[0]); n < 0x80 {
			b = b[1:]
			return n
		}
		n = int(binary.BigEndian.Uint32(b) &^ (1 << 31))
		b = b[4:]
		return n
	}
	all := map[string]string{}
	for len(b) > 0 {
		n, v := size(), 0
		v = size()
		name := string(b[:n])
		if _, twice := all[name]; twice {
			t.Errorf("%s twice", name)
		}
		all[name] = string(b[n : n+v])
		b = b[n+v:]
	}
	return all
}

// send is all that a codec says in one exchange.
func send(c proto.Codec) (all []byte, longest int) { return sendMessage(c, proto.Message{}) }

func sendMessage(c proto.Codec, m proto.Message) (all []byte, longest int) {
	for out := c.Encode(nil, m, 0); len(out) > 0; out = c.Flush(out[:0]) {
		all, longest = append(all, out...), max(longest, len(out))
	}
	return all, longest
}

func fields(lines ...string) (h []proto.Field) {
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		h = append(h, proto.Field{Name: name, Value: value})
	}
	return h
}

func TestParams(t *testing.T) {
	r := proto.Request{Method: "POST", Authority: "example.org:81", Path: "/a%20b/x.php?q=%20&r",
		Header: fields("content-type: text/plain", "X-A: 1", "x-a:  2", "Cookie: a", "cookie: b",
			"User-Agent: mine"), Body: []byte("hello")}
	plain := "GATEWAY_INTERFACE=CGI/1.1 SERVER_PROTOCOL=HTTP/1.1 REQUEST_METHOD=POST " +
		"REQUEST_URI=/a%20b/x.php?q=%20&r REQUEST_SCHEME=http QUERY_STRING=q=%20&r " +
		"SERVER_NAME=example.org SERVER_PORT=81 REMOTE_ADDR=127.0.0.1 REMOTE_PORT=0 " +
		"REDIRECT_STATUS=200 CONTENT_LENGTH=5 CONTENT_TYPE=text/plain HTTP_HOST=example.org:81 " +
		"HTTP_USER_AGENT=mine"
	for _, tc := range []struct {
		name    string
		options Options
		request proto.Request
		want    string
		spaced  map[string]string // what has a space in it
	}{
		{"all", Options{Defaults: []proto.Field{{Name: "User-Agent", Value: "dyno"}}}, r, plain, map[string]string{
			"SCRIPT_NAME": "/a b/x.php", "DOCUMENT_URI": "/a b/x.php", "SCRIPT_FILENAME": "/a b/x.php",
			"HTTP_X_A": "1, 2", "HTTP_COOKIE": "a; b"}},
		{"least", Options{}, get, "GATEWAY_INTERFACE=CGI/1.1 SERVER_PROTOCOL=HTTP/1.1 " +
			"REQUEST_METHOD=GET REQUEST_URI=/ REQUEST_SCHEME=http SCRIPT_NAME=/ DOCUMENT_URI=/ " +
			"QUERY_STRING= SERVER_NAME=x SERVER_PORT=80 REMOTE_ADDR=127.0.0.1 REMOTE_PORT=0 " +
			"REDIRECT_STATUS=200 HTTP_HOST=x SCRIPT_FILENAME=/", nil},
		{"ours replaced", Options{Defaults: []proto.Field{{Name: "User-Agent", Value: "dyno/1"}}, Params: fields("DOCUMENT_ROOT: /srv/",
			"REMOTE_ADDR: 10.0.0.1", "A: ", "REMOTE_ADDR: ::1")}, get,
			"GATEWAY_INTERFACE=CGI/1.1 SERVER_PROTOCOL=HTTP/1.1 " +
				"REQUEST_METHOD=GET REQUEST_URI=/ REQUEST_SCHEME=http SCRIPT_NAME=/ DOCUMENT_URI=/ " +
				"QUERY_STRING= SERVER_NAME=x SERVER_PORT=80 REMOTE_ADDR=::1 REMOTE_PORT=0 " +
				"REDIRECT_STATUS=200 HTTP_HOST=x HTTP_USER_AGENT=dyno/1 DOCUMENT_ROOT=/srv/ A= " +
				"SCRIPT_FILENAME=/srv/", nil},
	} {
		want := map[string]string{}
		for _, f := range strings.Fields(tc.want) {
			name, value, _ := strings.Cut(f, "=")
			want[name] = value
		}
		for name, value := range tc.spaced {
			want[name] = value
		}
		all, _ := send(newCodec(t, tc.options, tc.request))
		begin, env, body := read(t, all)
		got := pairs(t, env)
		for name, value := range want {
			if v, is := got[name]; !is || v != value {
				t.Errorf("%s: %s is %q, want %q", tc.name, name, v, value)
			}
		}
		for name := range got {
			if _, is := want[name]; !is {
				t.Errorf("%s: %s is too much", tc.name, name)
			}
		}
		if string(begin) != "\x00\x01\x01\x00\x00\x00\x00\x00" || !bytes.Equal(body, tc.request.Body) {
			t.Errorf("%s: begins with %x, body %q", tc.name, begin, body)
		}
	}
}

// Parameters and bodies of any size, around the limits of a record.
func TestSizes(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, maxRecord - 1, maxRecord, maxRecord + 1, 2 * maxRecord,
		1 << 20} {
		value := strings.Repeat("v", n)
		r := proto.Request{Method: "PUT", Path: "/", Header: fields("X: " + value),
			Body: bytes.Repeat([]byte("b"), n)}
		c := newCodec(t, Options{}, r)
		all, longest := send(c)
		_, env, body := read(t, all)
		if pairs(t, env)["HTTP_X"] != value || len(body) != n {
			t.Errorf("%d: %d bytes of body", n, len(body))
		}
		if most := len(c.run.messages[0].head) + maxRecord + 2*header; longest > most {
			t.Errorf("%d: %d bytes at once", n, longest)
		}
	}
}

// The last exchange asks the application to close, the others do not.
func TestCloseAfter(t *testing.T) {
	c := newCodec(t, Options{CloseAfter: 3}, get)
	for i := range 3 {
		if c.Room() != 1 {
			t.Fatal("no room for", i)
		}
		all, _ := send(c)
		if begin, _, _ := read(t, all); begin[2]&keepConn != 0 != (i < 2) {
			t.Errorf("request %d: %x", i, begin)
		}
		for in, k := []byte(hello), 0; len(in) > 0; in = in[k:] {
			k, _ = c.Decode(in, false)
		}
	}
	if _, ev := c.Decode(nil, false); ev.Kind != proto.Closing || c.Room() != 0 {
		t.Errorf("after the last response: %+v", ev)
	}
}

// An early answer: the rest of the body is sent before there is room.
func TestEarlyAnswer(t *testing.T) {
	r := proto.Request{Method: "POST", Path: "/", Body: make([]byte, 5*maxRecord)}
	c := newCodec(t, Options{}, r)
	out := c.Encode(nil, proto.Message{}, 0)
	all := append([]byte(nil), out...)
	for in, k := []byte(hello), 0; len(in) > 0; in = in[k:] {
		k, _ = c.Decode(in, false)
	}
	for len(out) > 0 {
		if room := c.Room(); (room == 1) != (len(c.rest) == 0) {
			t.Fatalf("room for %d with %d bytes to send", room, len(c.rest))
		}
		out = c.Flush(out[:0])
		all = append(all, out...)
	}
	if _, _, body := read(t, all); len(body) != len(r.Body) || c.Room() != 1 {
		t.Errorf("%d bytes sent, room for %d", len(body), c.Room())
	}
}

func TestProtocolRefuses(t *testing.T) {
	for _, tc := range []struct {
		options Options
		request proto.Request
		want    string
	}{
		{Options{CloseAfter: -1}, get, "closing"},
		{Options{Params: []proto.Field{{Name: ""}}}, get, "parameter"},
		{Options{Params: []proto.Field{{Name: "A=B"}}}, get, "parameter"},
		{Options{}, proto.Request{Method: "G T", Path: "/"}, "method"},
		{Options{}, proto.Request{Method: "GET", Path: "x"}, "request 1"},
	} {
		_, err := Protocol(tc.options)([]proto.Request{tc.request}, proto.Want{})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want %s", tc, err, tc.want)
		}
	}
}
