package fields

import (
	"strings"
	"testing"

	"dyno/internal/engine/proto"
)

func header(lines ...string) (h []proto.Field) {
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		h = append(h, proto.Field{Name: name, Value: value})
	}
	return h
}

func TestCheck(t *testing.T) {
	with := func(lines ...string) proto.Request {
		return proto.Request{Method: "GET", Authority: "x", Path: "/", Header: header(lines...)}
	}
	for _, tc := range []struct {
		request proto.Request
		want    string // part of the error; none if empty
	}{
		{with(), ""},
		{with("A: b", "TE: Trailers", "Expect: 100-continue"), ""},
		{with("Connection: keep-alive"), "Connection"},
		{with("keep-alive: 5"), "keep-alive"},
		{with("Proxy-Connection: x"), "Proxy-Connection"},
		{with("Transfer-Encoding: chunked"), "Transfer-Encoding"},
		{with("Upgrade: h2c"), "Upgrade"},
		{with("content-length: 5"), "is not the length of the body, 0"},
		{with("Content-Length: 0", "content-length: 0"), "is given twice"},
		{with("Content-Length:  0 "), ""},
		{with("TE: gzip"), "trailers only"},
		{with(":path: /x"), "not a token"},
		{with("A: b\x01"), "contains a control character"},
		{with("A: b\x7f"), "contains a control character"},
		{with("A: \tb\t\xff"), ""},
		{proto.Request{Method: "G T", Path: "/"}, "method"},
	} {
		switch err := Check(tc.request); {
		case tc.want == "" && err != nil:
			t.Errorf("%+v: %v", tc.request, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%+v: got %v, want %s", tc.request, err, tc.want)
		}
	}
}
