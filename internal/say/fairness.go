package say

import (
	"fmt"

	"dyno/internal/fact"
)

// fairnessSentence is Sentence for the check whether servers answer alike; "" of another kind.
func fairnessSentence(args fact.Args) string {
	switch a := args.(type) {
	case fact.Matters:
		return matters(a)
	case fact.OpensUnknown:
		return opensUnknown(a)
	}
	return ""
}

// perRequest is why bytes matter.
const perRequest = "are made, sent and read with every request"

// whyMatters says of each aspect why a difference in it matters.
var whyMatters = map[string]string{
	"answer": "a server that does not answer cannot be compared",
	"status": "another status is another answer: other code has made it",
	"reason": "its bytes are sent with every request",
	"version": "another protocol is other work: HTTP/1.0 has no chunks and keeps no connection " +
		"unless asked, HTTP/2 and HTTP/3 compress headers",
	"interim":      "a 1xx response before the answer is another write and another packet",
	"header_names": "who sends fewer headers does less",
	"header_bytes": "they " + perRequest,
	"body":         "another body is another answer: other work has made it",
	"body_bytes":   "they " + perRequest,
	"events":       "who sends fewer events makes less, or gathers more before it sends",
	"tokens":       "who makes fewer tokens does less",
	"stream_end":   "a stream that fails, or ends early, is another answer",
	"trailer":      "it is made and sent after the body, with every request",
	"framing": "chunks add bytes and often a write; a body that ends by closing costs a " +
		"connection",
	"wire_bytes":       "they are what the network and both kernels carry for a request",
	"content_encoding": "compressing, unasked, costs more than most handlers do",
	"gzip": "it compresses for clients that accept gzip, so it does more for them and sends " +
		"less",
	"keep_alive":   "a closed connection costs another connect, on both sides",
	"date":         "a Date that stands still is a stored answer, not one that is made",
	"unknown_path": "who answers every path alike does not route",
	"stability":    "what varies is made anew each time, what does not may be stored",
	"new_connections": "a proxy that opens a connection for each request measures connects, not " +
		"proxying",
	"tls": "ciphers, keys and versions differ in cost by factors",

	"processes":       "more of them may use more CPUs",
	"threads_at_rest": "likewise; under load there may be more",
	"cpus":            "who may run on more CPUs can do more",
	"gomaxprocs":      "it is how many CPUs a Go program uses at once",
	"open_files":      "connections beyond the limit are refused",
	"backlog":         "connections that wait to be accepted beyond it are dropped",
	"writes_to":       "who writes a log does more for each request",
}

func matters(a fact.Matters) string {
	switch {
	case !a.Header:
		return whyMatters[a.Aspect]
	case a.Aspect == "location":
		return "it leads elsewhere: the servers were not asked to do the same"
	case a.Aspect == "connection" || a.Aspect == "keep-alive":
		return "it says whether the connection is kept"
	}
	return "its bytes " + perRequest
}

func opensUnknown(a fact.OpensUnknown) string {
	switch a.Why {
	case fact.InBrief:
		return "not asked"
	case fact.OfStreams:
		return "not asked of streams"
	case fact.Elsewhere:
		return "the server is not on this machine"
	case fact.OthersOpen:
		return fmt.Sprintf("other programs open as many connections (%.2f per request of %.2f)", a.Noise,
			a.Counted)
	}
	return a.Text
}
