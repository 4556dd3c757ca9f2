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
	"status": "a different status means a different answer, made by different code",
	"reason": "the reason phrase is sent with every answer",
	"version": "a different protocol means different work: HTTP/1.0 has no chunks and keeps no " +
		"connection unless asked, HTTP/2 and HTTP/3 compress headers",
	"interim":      "a 1xx response before the answer is another write and another packet",
	"header_names": "a server that sends fewer headers does less",
	"header_bytes": "headers " + perRequest,
	"body":         "a different body means a different answer, and different work to make it",
	"body_bytes":   "the bytes of the body " + perRequest,
	"events":       "a server that sends fewer events makes less, or gathers more before it sends",
	"tokens":       "a server that makes fewer tokens does less",
	"stream_end":   "a stream that fails, or ends early, is a different answer",
	"trailer":      "a trailer is made and sent after the body of every answer",
	"framing": "chunks add bytes and often a write; a body that ends with its connection costs a " +
		"new connection",
	"wire_bytes":       "the network and both kernels carry these bytes for every request",
	"content_encoding": "compression that no client asked for costs more than most handlers",
	"gzip": "a server that compresses for clients that accept gzip does more for them and sends " +
		"less",
	"keep_alive":   "a closed connection costs another connect, on both sides",
	"date":         "a Date that stands still shows an answer that is cached, not made",
	"unknown_path": "a server that answers every path alike does not route",
	"stability":    "an answer that varies is made anew each time; any other may be cached",
	"new_connections": "with a proxy that opens a connection for each request, the comparison " +
		"measures connects, not proxying",
	"tls": "ciphers, keys and versions differ in cost by factors",

	"processes":       "more processes may use more CPUs",
	"threads_at_rest": "more threads may use more CPUs, and a load may start more of them",
	"cpus":            "a server that may run on more CPUs can do more",
	"gomaxprocs":      "GOMAXPROCS is how many CPUs a Go program uses at once",
	"open_files":      "a server refuses connections beyond its limit of open files",
	"backlog": "the kernel drops connections beyond the backlog while they wait for the " +
		"server",
	"writes_to": "a server that writes a log does more for each request",
}

func matters(a fact.Matters) string {
	switch {
	case !a.Header:
		return whyMatters[a.Aspect]
	case a.Aspect == "location":
		return "the redirect leads elsewhere: the servers were not asked to do the same"
	case a.Aspect == "connection":
		return "this header says whether the connection is kept"
	case a.Aspect == "keep-alive":
		return "this header says for how long, and for how many requests, the connection is kept"
	}
	return "the bytes of this header " + perRequest
}

func opensUnknown(a fact.OpensUnknown) string {
	switch a.Why {
	case fact.InBrief:
		return "dyno did not ask the system how many connections were opened"
	case fact.OfStreams:
		return "dyno does not count opened connections for streams"
	case fact.Elsewhere:
		return "the server is not on this machine"
	case fact.OthersOpen:
		return fmt.Sprintf("%.2f connections were opened per request, but up to %.2f of these may be "+
			"other programs'", a.Counted, a.Noise)
	}
	return "the system does not tell how many connections were opened: " + a.Text
}
