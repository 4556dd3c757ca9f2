package loadplan

import (
	"slices"
	"strings"

	"dyno/internal/engine/content"
	"dyno/internal/engine/proto"
)

// DefaultFields are the fields of requests that have none of the name.
func (p *Plan) DefaultFields() []proto.Field {
	all := []proto.Field{{Name: "User-Agent", Value: UserAgent}}
	if p.AcceptEncoding != "" {
		all = append(all, proto.Field{Name: "Accept-Encoding", Value: p.AcceptEncoding})
	}
	return all
}

// MaxChunk is the most bytes that a chunk can have.
const MaxChunk = 1 << 30

// checkCoding checks in which codings answers are wanted, and bodies sent.
func (p *Plan) checkCoding(flaw finder) {
	if p.AcceptEncoding != "" {
		for item := range strings.SplitSeq(p.AcceptEncoding, ",") {
			coding, _, _ := strings.Cut(item, ";")
			coding = strings.ToLower(strings.TrimSpace(coding))
			known := slices.Contains(content.Codings, coding) || coding == "identity" || coding == "*"
			flaw(!known, "AcceptEncoding", "%.40q is not one of %s and identity, which checks of bodies "+
				"can decode", coding, strings.Join(content.Codings, ", ")).Mend =
				"a header can ask for others"
		}
		flaw(strings.ContainsFunc(p.AcceptEncoding, func(r rune) bool { return r < ' ' || r > '~' }),
			"AcceptEncoding", "has a character that no header can have")
	}
	flaw(p.ChunkSize < 0 || p.ChunkSize > MaxChunk, "ChunkSize", "%d is not within 1 to %d",
		p.ChunkSize, MaxChunk)
	if p.ChunkSize > 0 {
		flaw(p.Target.FastCGI, "ChunkSize", "FastCGI has records in place of chunks")
		flaw(p.OnlyHTTP2(), "ChunkSize", "HTTP/2 has no chunks: it sends bodies in frames, whose "+
			"sizes server and generator agree on").Mend = "leave it out, or give {HTTP} 1.1"
		flaw(p.OnlyHTTP3(), "ChunkSize", "HTTP/3 has no chunks: it sends bodies in frames, whose sizes "+
			"its library chooses").Mend = "leave it out, or give {HTTP} 1.1"
		flaw(p.HTTP == "1.0", "ChunkSize", "HTTP/1.0 has no chunks").Mend =
			"leave it out, or give {HTTP} 1.1"
	}
}
