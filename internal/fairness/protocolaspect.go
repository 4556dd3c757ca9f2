package fairness

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
)

// The aspects that depend on the protocol. What one side's protocol does not have is not compared,
// and its cell says so.

// hasLines reports whether an answer came in HTTP/1, whose header is lines.
func (a *Answer) hasLines() bool {
	return !a.isCompressed() && a.Version != protocolNames[loadplan.FastCGI]
}

// isCompressed reports whether an answer came in HTTP/2 or HTTP/3, which compress headers.
func (a *Answer) isCompressed() bool {
	return a.Version == protocolNames[loadplan.HTTP2] || a.Version == protocolNames[loadplan.HTTP3]
}

// hops are the header fields that are about a connection of HTTP/1, and that HTTP/2 and HTTP/3 do
// not have (RFC 9113, 8.2.2).
var hops = []string{"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}

// isHop reports whether a field is about a connection, and only one of the answers can have it.
func isHop(name string, ref, a *Answer) bool {
	return ref.hasLines() != a.hasLines() && slices.Contains(hops, canonicalName(name))
}

// withoutHops is the allow list with the fields that only one of the answers can have.
func (a allowed) withoutHops(ref, other *Answer) allowed {
	if ref.hasLines() == other.hasLines() {
		return a
	}
	all := allowed{}
	for name := range a {
		all[name] = true
	}
	for _, name := range hops {
		all[name] = true
	}
	return all
}

func judgeReason(ref, a *Answer, _ allowed) State {
	if !ref.hasLines() || !a.hasLines() {
		return Unseen
	}
	return equalityState(ref.Reason == a.Reason)
}

func showReason(a *Answer) string {
	if !a.hasLines() {
		return a.Version + " has none"
	}
	return clipText(a.Reason)
}

func judgeInterim(ref, a *Answer, _ allowed) State {
	if !ref.hasLines() || !a.hasLines() {
		return Unseen
	}
	return equalityState(slices.Equal(ref.Interim, a.Interim))
}

func showInterim(a *Answer) string {
	switch {
	case !a.hasLines():
		return "not known over " + a.Version
	case len(a.Interim) == 0:
		return "none"
	}
	return strings.Trim(fmt.Sprint(a.Interim), "[]")
}

func showHeaderBytes(a *Answer) string {
	if !a.hasLines() {
		return a.HeaderBytes.String() + ", names and values"
	}
	return a.HeaderBytes.String()
}

func showWireBytes(a *Answer) string {
	if a.isCompressed() {
		return "not counted over " + a.Version
	}
	return a.WireBytes.String()
}

// judgeFraming compares ways of framing of one protocol.
func judgeFraming(ref, a *Answer, _ allowed) State {
	if ref.Version != a.Version && !(ref.hasLines() && a.hasLines()) {
		return Unseen
	}
	return equalityState(ref.Framing == a.Framing)
}

// judgeTrailer compares trailers without the fields that are allowed. HTTP/1's is not kept, and
// FastCGI has none.
func judgeTrailer(ref, a *Answer, ok allowed) State {
	if !ref.isCompressed() || !a.isCompressed() {
		return Unseen
	}
	if slices.Contains(ref.Varies, "trailer") && slices.Contains(a.Varies, "trailer") {
		return Equal
	}
	rest := func(ok allowed, in *Answer) map[string]string {
		all := joinByName(in.Trailer)
		for name := range all {
			if ok.hasName(name) {
				delete(all, name)
			}
		}
		return all
	}
	same := func(ok allowed) bool { return maps.Equal(rest(ok, ref), rest(ok, a)) }
	return explainedState(same(allowed{}), same(ok))
}

func showTrailer(a *Answer) string {
	if !a.isCompressed() {
		return "not known over " + a.Version
	}
	var lines []string
	for _, l := range a.Trailer {
		lines = append(lines, l.Name+": "+l.Value)
	}
	return orNoneText(strings.Join(lines, ", "))
}

// judgeTLS leaves the name of the protocol (ALPN) to the aspect version.
func judgeTLS(ref, a *Answer, _ allowed) State {
	if ref.TLS == nil || a.TLS == nil || ref.Version == a.Version {
		return equalityState(showTLS(ref) == showTLS(a))
	}
	one, two := *ref.TLS, *a.TLS
	one.ALPN, two.ALPN = "", ""
	return equalityState(one == two)
}

func showTLS(a *Answer) string {
	if a.TLS == nil {
		return "none"
	}
	s := a.TLS.Version + ", " + a.TLS.Cipher + ", " + a.TLS.Key
	if a.TLS.ALPN != "" {
		s += ", " + a.TLS.ALPN
	}
	return s
}
