// Package fields is what HTTP/2 (RFC 9113) and HTTP/3 (RFC 9114) have in common: header fields as
// HPACK and QPACK write them, what requests may say, and the rules of responses. What differs
// between the two stays with their codecs: frames, in which order they come, and tables.
//
//	coding.go    numbers, strings, and how a static table is searched
//	header.go    the fields of a response, and what they mean together
//	huffman.go   the Huffman code of strings
//	request.go   what requests may say, and header blocks with holes
//	response.go  the rules of a response
package fields

import (
	"fmt"

	"dyno/internal/engine/proto"
)

// Limits of responses.
const (
	MaxHead    = 256 << 10 // bytes of a header: compressed, with its frames, and as a list
	MaxInterim = 64        // 1xx responses to one request
)

// TooLong is the fault of a header above MaxHead.
var TooLong = &proto.Fault{Kind: proto.FaultOversized,
	Detail: fmt.Sprintf("the response header is longer than %d KiB", MaxHead>>10)}

// A Response is what has come of a response to one request, and checks what comes next.
type Response struct {
	Length  int64  // content-length; below 0: none. 0 where there is no body
	Got     int64  // bytes of the body
	Status  uint16 // of the final header
	Headed  bool   // that has come
	Bare    bool   // there is no body: it answers HEAD, or has such a status
	interim uint8  // 1xx responses
}

// NewResponse is a response of which nothing has come. bare is whether it answers HEAD.
func NewResponse(bare bool) Response { return Response{Length: -1, Bare: bare} }

// A Part is what a header is of a response.
type Part uint8

// The parts.
const (
	Interim Part = iota // 1xx, which the response follows
	Final
	Trailer
)

// AddHeader adds the next header block, and says which part it is. Its fault is one of the response
// only.
func (r *Response) AddHeader(h *Header) (Part, *proto.Fault) {
	switch {
	case h.Size > MaxHead:
		return 0, TooLong
	case h.wrong != "":
		return 0, malformed("%s", h.wrong)
	case r.Headed && h.Status != 0:
		return 0, malformed("its trailer has a :status")
	case r.Headed:
		return Trailer, nil
	case h.Status == 0:
		return 0, malformed("it has no :status")
	case h.Status == 101:
		return 0, malformed("HTTP/2 and HTTP/3 have no status 101")
	case h.Status < 200:
		if r.interim++; r.interim > MaxInterim {
			return 0, &proto.Fault{Kind: proto.FaultOversized, Detail: fmt.Sprintf(
				"more than %d interim (1xx) responses to one request", MaxInterim)}
		}
		return Interim, nil
	}
	r.Headed, r.Status, r.Length = true, h.Status, h.Length
	if r.Bare = r.Bare || h.Status == 204 || h.Status == 304; r.Bare {
		r.Length = 0
	}
	return Final, nil
}

// CheckBody reports the fault of so many bytes of body that come next; nil if they may. The header
// has come.
func (r *Response) CheckBody(n int64) *proto.Fault {
	switch {
	case r.Bare && n > 0:
		return proto.ForbiddenBody(r.Status, nil)
	case r.Length >= 0 && n > r.Length-r.Got:
		return &proto.Fault{Kind: proto.FaultFraming,
			Detail: fmt.Sprintf("the body is longer than the %d bytes of its content-length", r.Length)}
	}
	return nil
}

// CheckEnd reports what is missing where the response ends; nil if nothing is.
func (r *Response) CheckEnd() *proto.Fault {
	switch {
	case !r.Headed:
		return malformed("it ended before its final header")
	case r.Length >= 0 && r.Got != r.Length:
		return &proto.Fault{Kind: proto.FaultFraming,
			Detail: fmt.Sprintf("the stream ended after %d of %d bytes of body", r.Got, r.Length)}
	}
	return nil
}

// HasBegun reports whether any of the response has come.
func (r *Response) HasBegun() bool { return r.Headed || r.interim > 0 }

// IsLimit reports whether a fault of a response is a limit of ours, and the server's response may
// be good. Then its stream is canceled, and not called malformed.
func IsLimit(f *proto.Fault) bool { return f.Kind == proto.FaultOversized }

func malformed(format string, a ...any) *proto.Fault {
	return &proto.Fault{Kind: proto.FaultMalformed,
		Detail: "malformed response: " + fmt.Sprintf(format, a...)}
}
