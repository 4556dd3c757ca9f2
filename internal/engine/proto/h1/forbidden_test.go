package h1

import (
	"errors"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/prototest"
)

// A body behind a response that can have none is the fault of that response, and not of the next
// one, whether it arrives with it, later, or before the answer to a pipelined request.
func TestForbiddenBody(t *testing.T) {
	head := proto.Request{Method: "HEAD", Authority: "x", Path: "/"}
	for name, test := range map[string]struct {
		request proto.Request
		speech  string
		want    string // in the fault
	}{
		"204":          {get, "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", "status 204"},
		"204, chunked": {get, "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "status 204"},
		"304":          {get, "HTTP/1.1 304 Not Modified\r\n\r\nhello\n", "status 304"},
		"HEAD":         {head, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "to a HEAD request"},
		"a response":   {get, "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nhello", ""},
		"not at first": {get, "hello", ""},
	} {
		for inFlight := 1; inFlight <= 3; inFlight++ {
			for _, chunk := range []int{1, 3, 1000} {
				c := newCodec(t, Options{Depth: 3}, test.request)
				for tag := range uint32(inFlight) {
					c.Encode(nil, proto.Message{}, tag)
				}
				got, err := prototest.Events(c, []byte(test.speech), chunk)
				var f *proto.Fault
				if err != nil || !errors.As(got[len(got)-1].Err, &f) && !(name == "a response" && inFlight == 1) {
					t.Fatalf("%s, %d in flight, pieces of %d: %+v, %v", name, inFlight, chunk, got, err)
				}
				if f == nil {
					continue
				}
				blames := strings.Contains(f.Detail, "sent a body behind a response")
				if blames != (test.want != "") || !strings.Contains(f.Detail, test.want) ||
					blames && f.Kind != proto.FaultUnasked {
					t.Errorf("%s, %d in flight, pieces of %d: %s %s", name, inFlight, chunk, f.Kind, f.Detail)
				}
			}
		}
	}
}
