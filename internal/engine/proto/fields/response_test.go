package fields

import (
	"fmt"
	"strings"
	"testing"
)

// hear is what the parts of a response mean, one after another: a header is "name: value" lines,
// and a number is so many bytes of body.
func hear(bare bool, parts ...string) string {
	r := NewResponse(bare)
	var said []string
	for _, part := range parts {
		var n int64
		if _, err := fmt.Sscanf(part, "+%d", &n); err == nil {
			if fault := r.CheckBody(n); fault != nil {
				return strings.Join(append(said, fault.Kind+": "+fault.Detail), ", ")
			}
			r.Got += n
			continue
		}
		h := Header{Length: -1}
		for line := range strings.SplitSeq(part, "|") {
			i := strings.Index(line[1:], ":") + 1
			f := Named([]byte(line[:i])).With([]byte(strings.TrimPrefix(line[i+1:], " ")))
			h.SetField(&f)
		}
		what, fault := r.AddHeader(&h)
		if fault != nil {
			return strings.Join(append(said, fault.Kind+": "+fault.Detail), ", ")
		}
		said = append(said, [...]string{"interim", "final", "trailer"}[what])
	}
	if fault := r.CheckEnd(); fault != nil {
		return strings.Join(append(said, fault.Kind+": "+fault.Detail), ", ")
	}
	return strings.Join(append(said, fmt.Sprint("ok ", r.Got)), ", ")
}

// What HTTP/2 and HTTP/3 make of the same response. The sections are RFC 9113's and RFC 9114's.
func TestResponses(t *testing.T) {
	const bad = "malformed: malformed response: "
	const value, name = "it has a field whose value HTTP does not allow", "it has a field whose name HTTP/2 and HTTP/3 do not allow"
	for _, tc := range []struct {
		section, name string
		bare          bool
		parts         []string
		want          string
	}{
		{"", "all", false, []string{":status: 200|a: b", "+5"}, "final, ok 5"},
		{"8.1 4.1", "nothing", false, nil, bad + "it ended before its final header"},
		{"8.1 4.1", "interim", false, []string{":status: 100", ":status: 103|link: x", ":status: 200"}, "interim, interim, final, ok 0"},
		{"8.1 4.1", "an unknown interim", false, []string{":status: 199", ":status: 200"}, "interim, final, ok 0"},
		{"8.1 4.1", "interim alone", false, []string{":status: 103"}, "interim, " + bad + "it ended before its final header"},
		{"8.1 4.1", "interim behind the header", false, []string{":status: 200", ":status: 103"}, "final, " + bad + "its trailer has a :status"},
		{"8.1 4.1", "trailer", false, []string{":status: 200", "+5", "grpc-status: 0"}, "final, trailer, ok 5"},
		{"8.1 4.3", "a status in a trailer", false, []string{":status: 200", "a: b|:status: 200"}, "final, " + bad + ":status comes after other fields"},
		{"8.1 4.3", "a pseudo-header in a trailer", false, []string{":status: 200", ":path: /"}, "final, " + bad + "it has a pseudo-header field that no response has"},
		{"8.6 4.5", "101", false, []string{":status: 101"}, bad + "HTTP/2 and HTTP/3 have no status 101"},

		{"8.1.1 4.1.2", "right length", false, []string{":status: 200|content-length: 5", "+2", "+0", "+3", "a: b"}, "final, trailer, ok 5"},
		{"8.1.1 4.1.2", "too little", false, []string{":status: 200|content-length: 5", "+4"}, "final, framing: the stream ended after 4 of 5 bytes of body"},
		{"8.1.1 4.1.2", "too little before a trailer", false, []string{":status: 200|content-length: 5", "+4", "a: b"}, "final, trailer, framing: the stream ended after 4 of 5 bytes of body"},
		{"8.1.1 4.1.2", "too much", false, []string{":status: 200|content-length: 5", "+4", "+2"}, "final, framing: the body is longer than the 5 bytes of its content-length"},
		{"8.1.1 4.1.2", "a length and no body", false, []string{":status: 200|content-length: 1"}, "final, framing: the stream ended after 0 of 1 bytes of body"},
		{"8.1.1 4.1.2", "the same length twice", false, []string{":status: 200|content-length: 1|content-length: 1", "+1"}, "final, ok 1"},
		{"8.1.1 4.1.2", "two lengths", false, []string{":status: 200|content-length: 1|content-length: 2"}, bad + "its content-length is not one number"},
		{"8.1.1 4.1.2", "a length with a sign", false, []string{":status: 200|content-length: +4"}, bad + "its content-length is not one number"},
		{"8.1.1 4.1.2", "a length of nothing", false, []string{":status: 200|content-length: "}, bad + "its content-length is not one number"},
		{"8.1.1 4.1.2", "a length beyond all", false, []string{":status: 200|content-length: 99999999999999999999"}, bad + "its content-length is not one number"},
		{"8.1.1 4.1.2", "a length in an interim, which has no body", false, []string{":status: 103|content-length: 9", ":status: 200", "+1"}, "interim, final, ok 1"},
		{"8.1.1 4.1.2", "HEAD", true, []string{":status: 200|content-length: 9"}, "final, ok 0"},
		{"8.1.1 4.1.2", "HEAD and a body", true, []string{":status: 200|content-length: 9", "+9"},
			"final, unasked: the server sent a body behind a response to a HEAD request, which has none (RFC 9110, 6.4.1)"},
		{"8.1.1 4.1.2", "304", false, []string{":status: 304|content-length: 9", "+0"}, "final, ok 0"},
		{"8.1.1 4.1.2", "304 and a body", false, []string{":status: 304|content-length: 1", "+1"},
			"final, unasked: the server sent a body behind a response with status 304, which has none (RFC 9110, 6.4.1)"},
		{"8.1.1 4.1.2", "204 and a body", false, []string{":status: 204", "+1"},
			"final, unasked: the server sent a body behind a response with status 204, which has none (RFC 9110, 6.4.1)"},

		{"8.2.1 4.2", "capitals", false, []string{":status: 200|A: b"}, bad + name},
		{"8.2.1 4.2", "a capital pseudo-header", false, []string{":Status: 200"}, bad + "it has a pseudo-header field that no response has"},
		{"8.2.1 4.2", "a space in a name", false, []string{":status: 200|a b: c"}, bad + name},
		{"8.2.1 4.2", "a NUL in a name", false, []string{":status: 200|a\x00: c"}, bad + name},
		{"8.2.1 4.2", "every character of names", false, []string{":status: 200|!#$%&'*+-.^_`~09az: b"}, "final, ok 0"},
		{"8.2.1 10.3", "NUL in a value", false, []string{":status: 200|a: b\x00"}, bad + value},
		{"8.2.1 10.3", "CR in a value", false, []string{":status: 200|a: b\rc"}, bad + value},
		{"8.2.1 10.3", "LF in a value", false, []string{":status: 200|a: b\nc"}, bad + value},
		{"8.2.1 10.3", "a control character in a value", false, []string{":status: 200|a: b\x1fc"}, bad + value},
		{"8.2.1 10.3", "DEL in a value", false, []string{":status: 200|a: b\x7f"}, bad + value},
		{"8.2.1 10.3", "a blank before a value", false, []string{":status: 200|a: \tb"}, bad + value},
		{"8.2.1 10.3", "a blank behind a value", false, []string{":status: 200|a: b "}, bad + value},
		{"8.2.1 10.3", "every other byte in a value", false, []string{":status: 200|a: b\t ~\x80\xff"}, "final, ok 0"},
		{"8.2.1 10.3", "an empty value", false, []string{":status: 200|a: "}, "final, ok 0"},
		{"8.2.1 10.3", "a bad value in a trailer", false, []string{":status: 200", "a: \x01"}, "final, " + bad + value},
		{"8.2.2 4.2", "connection", false, []string{":status: 200|connection: close"}, bad + name},
		{"8.2.2 4.2", "keep-alive", false, []string{":status: 200|keep-alive: 1"}, bad + name},
		{"8.2.2 4.2", "proxy-connection", false, []string{":status: 200|proxy-connection: x"}, bad + name},
		{"8.2.2 4.2", "transfer-encoding", false, []string{":status: 200|transfer-encoding: chunked"}, bad + name},
		{"8.2.2 4.2", "upgrade", false, []string{":status: 200|upgrade: h2c"}, bad + name},
		{"8.2.2 4.2", "connection in an interim", false, []string{":status: 103|connection: close"}, bad + name},
		{"8.2.2 4.2", "connection in a trailer", false, []string{":status: 200", "connection: close"}, "final, " + bad + name},

		{"8.3 4.3.2", "no status", false, []string{"a: b"}, bad + "it has no :status"},
		{"8.3 4.3.2", "two statuses", false, []string{":status: 200|:status: 200"}, bad + "it has two fields :status"},
		{"8.3 4.3", "a late status", false, []string{"a: b|:status: 200"}, bad + ":status comes after other fields"},
		{"8.3 4.3", "a request's field", false, []string{":method: GET|:status: 200"}, bad + "it has a pseudo-header field that no response has"},
		{"8.3 4.3", "an unknown one", false, []string{":status: 200|:x: y"}, bad + "it has a pseudo-header field that no response has"},
		{"8.3.2 4.3.2", "a short status", false, []string{":status: 20"}, bad + "its :status is not a status code"},
		{"8.3.2 4.3.2", "a long status", false, []string{":status: 2000"}, bad + "its :status is not a status code"},
		{"8.3.2 4.3.2", "a status below 100", false, []string{":status: 099"}, bad + "its :status is not a status code"},
		{"8.3.2 4.3.2", "any status", false, []string{":status: 999", "+1"}, "final, ok 1"},
	} {
		if got := hear(tc.bare, tc.parts...); got != tc.want {
			t.Errorf("%s, %s: %s; want %s", tc.section, tc.name, got, tc.want)
		}
	}
}

// What is beyond a limit of ours is told from what is wrong with a response.
func TestLimits(t *testing.T) {
	r := NewResponse(false)
	for n := range MaxInterim + 1 {
		if _, fault := r.AddHeader(&Header{Status: 103, Length: -1}); (fault != nil) != (n == MaxInterim) {
			t.Fatalf("%d interim responses: %v", n+1, fault)
		} else if fault != nil && !IsLimit(fault) {
			t.Errorf("%+v is no limit", fault)
		}
	}
	r = NewResponse(false)
	if _, fault := r.AddHeader(&Header{Status: 200, Length: -1, Size: MaxHead}); fault != nil {
		t.Errorf("%d bytes: %v", MaxHead, fault)
	}
	if _, fault := r.AddHeader(&Header{Length: -1, Size: MaxHead + 1}); fault == nil || !IsLimit(fault) {
		t.Errorf("a trailer of %d bytes: %v", MaxHead+1, fault)
	}
	if fault := r.CheckBody(1 << 62); fault != nil {
		t.Errorf("a frame of 2^62 bytes: %v", fault)
	}
	if _, fault := r.AddHeader(&Header{Status: 200}); fault == nil || IsLimit(fault) {
		t.Errorf("a :status in a trailer: %v", fault)
	}
}
