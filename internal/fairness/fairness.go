// Package fairness finds out whether servers that are to be compared do the
// same work: it asks each of them the load's own question and compares what
// comes back, byte by byte.
//
// A benchmark of servers that answer differently measures the difference of
// their answers. One compresses, one sends 40 bytes of header more, one answers
// 302 where the others answer 301, one opens a connection to its upstream for
// each request: all of these have been published as a difference of speed.
//
// Ask is one server's half. It asks by the load's own way to the server (package transport) and
// by the load's own codecs, so that it accepts and refuses what the load does. Of HTTP/1 a codec
// hides what matters here: names as they were sent, their order, the bytes of the header, the
// framing, 1xx responses. But it says how many bytes each event took, so that the session
// (session.go), which gave it the bytes, keeps those of the header and splits what the codec has
// judged (response.go). A tap in the codec would cost each request of a load; this costs nothing.
//
// A load that says who it is by Digest or AWS's signatures has its questions say so, too (package
// auth): a challenge is answered, and only what comes then is an answer.
//
// One connection is open at a time, because some servers serve only one, and every request leaves
// in one piece. No two exchanges run side by side: between the first Date and the second there is
// time enough for all others. Of HTTP/2, HTTP/3 and FastCGI no spelling and no framing can be
// judged: names are in lower case, and what the codec accepts is well framed.
//
// Compare is the other half, and pure: answers in, a Table out. An aspect of a
// variant is equal to the reference's, or allowed to differ, or a violation, or
// it is not known on one side, which is neither good nor bad. What an allowed
// header adds to the bytes of an exchange is allowed with it.
//
// What cannot be seen from outside is not compared: access logs, workers, CPU
// sets, connections to an upstream over a unix socket. Bytes are those of
// HTTP, without the records of TLS around them.
//
//	ask.go              asks a server: fresh, kept, gzip, unknown path, later date
//	aspect.go           aspects of answers: header, body, gzip, connections
//	compare.go          compares answers: a table, violations, what would allow them
//	conn.go             opens a connection, and says what TLS settled on
//	fairness.go         Question and Answer
//	line.go             a line to a server, of TCP or QUIC
//	opens.go            does a request open a connection to an upstream?
//	opens_linux.go      counts of connections from the kernel; opens_other.go
//	protocolaspect.go   aspects of the protocol: interim responses, framing, trailer, TLS
//	response.go         a response, and the header of HTTP/1 as it came
//	session.go          exchanges on one connection, by the engine's codecs
//	streamaspect.go     aspects of streams of events
//	tally.go            sums up all answers of a server
package fairness

import (
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
)

// A Question is what one server is to be asked: the request of the load, as the
// load sends it.
type Question struct {
	// Way is how the load's connections are made, and what is spoken on them. Its Timeout is that of
	// a connect and of an exchange. If it lets the server choose a protocol, HTTP/1.1 is spoken.
	Way     loadplan.Way
	Request proto.Request

	Times     int // exchanges on fresh connections; 0: 20
	KeepAlive int // exchanges on one connection, 10,000 at most; 0: as many as Times

	// Brief leaves out what takes time or is not the load's request: whether the
	// Date advances, connections opened, gzip and an unknown path. Before and
	// after each trial the rest is enough, and takes milliseconds.
	Brief bool

	Contains string // what each body should contain; Answer.Lacks counts those that do not

	// Stream says how answers are streams of events; nil: they are none. Each takes its time, so fewer
	// are asked for, and what does not need a whole answer is asked without waiting for its end.
	Stream *loadplan.Stream `json:",omitempty"`
}

// An Answer is what one server did with a Question. Where exchanges differed it
// is the first one's, and Varies says so.
type Answer struct {
	URL       string `json:"url"`       // that was asked, without credentials
	Authority string `json:"authority"` // what Host said, unless the load says it itself
	Exchanges int    `json:"exchanges"` // with the load's request, all compared with the first

	Version string `json:"version"` // HTTP/1.1, HTTP/1.0, HTTP/2, HTTP/3 or FastCGI
	Status  int    `json:"status"`

	// Statuses are how many exchanges had each status; nil if all had Status.
	Statuses map[int]int `json:"statuses,omitempty"`

	Reason  string `json:"reason"`            // HTTP/1 only
	Interim []int  `json:"interim,omitempty"` // 1xx statuses before it; HTTP/1 only
	Header  []Line `json:"header"`            // in the order they were sent; HTTP/3: by name
	Trailer []Line `json:"trailer,omitempty"` // HTTP/2 and HTTP/3 only

	// HeaderBytes are those from the status line to the empty line; where there are no lines, those
	// of names and values before compression.
	HeaderBytes Span `json:"header_bytes"`
	BodyBytes   Span `json:"body_bytes"` // without transfer coding

	// WireBytes are those of the whole response, with 1xx, chunk sizes and records. They are 0 for
	// HTTP/2 and HTTP/3, where they depend on earlier responses and on time.
	WireBytes Span `json:"wire_bytes"`

	Framing    Framing `json:"framing"`
	BodySHA256 string  `json:"body_sha256"`          // hex
	BodyStart  string  `json:"body_start,omitempty"` // its first 60 bytes; see Shorten
	BodyCut    bool    `json:"body_cut,omitempty"`   // only its first 16 MiB were read

	Bodies
	Gzip    *Encoded `json:"gzip,omitempty"`       // asked with it; nil: in brief
	Kept    *Kept    `json:"keep_alive,omitempty"` // nil if the load does not keep connections
	Date    Date     `json:"date"`
	Unknown *Unknown `json:"unknown_path,omitempty"`
	Opens   Opens    `json:"new_connections"`
	TLS     *Secrecy `json:"tls,omitempty"`

	// Varies is what was not the same in all exchanges, sorted: status, reason,
	// version, interim, framing, body, trailer, and "header NAME". Date is no part of it.
	Varies []string `json:"varies,omitempty"`
}

// Bodies are what else is known of an Answer's bodies.
type Bodies struct {
	BodyNeutral string `json:"body_neutral_sha256,omitempty"` // with HOST for Authority, if it has it
	Encoding    string `json:"content_encoding,omitempty"`    // that nobody had asked for
	Lacks       int    `json:"lacks,omitempty"`               // without what they should contain

	Stream *Stream `json:"stream,omitempty"` // nil: answers are no streams of events
}

// A Line is a header line as it was received.
type Line struct {
	Name  string `json:"name"` // in the server's own spelling; but for HTTP/1 in lower case
	Value string `json:"value"`
	Bytes int    `json:"bytes"` // of the whole line, with its end; but for HTTP/1 of name and value
}

// A Span is a number of bytes over all exchanges.
type Span struct {
	Min  int64   `json:"min"`
	Max  int64   `json:"max"`
	Mean float64 `json:"mean"`
}

// Framing is how a response says where its body ends.
type Framing string

// The ways of framing.
const (
	ByLength  Framing = "content-length"
	ByChunks  Framing = "chunked"
	ByClose   Framing = "close"   // the body ends where the connection does
	ByFrames  Framing = "frames"  // of HTTP/2 and HTTP/3
	ByRecords Framing = "records" // of FastCGI
	NoBody    Framing = "no body" // by the status or the method
)

// Kept is how long one connection was kept alive.
type Kept struct {
	Asked  int `json:"asked"`
	Served int `json:"served"`
	End    End `json:"end"`
}

// End is why the exchanges on one connection ended.
type End string

// The ends of a connection's exchanges.
const (
	EndAsked     End = "all served"                // the server would go on
	EndAnnounced End = "closed, as announced"      // Connection: close, HTTP/1.0, or the framing
	EndSilent    End = "closed without saying so"  // the header had promised to keep it
	EndTime      End = "no time for more"          // open, and slow
	EndCut       End = "body too long to go on by" // see Answer.BodyCut
)

// Date is what the Date header does in the course of time.
type Date string

// What Dates do.
const (
	DateUnasked    Date = "not asked" // twice, in brief
	DateAbsent     Date = "absent"
	DateAdvances   Date = "advances"
	DateFrozen     Date = "frozen"     // the same, or an earlier one, 3.3 s later
	DateUnreadable Date = "unreadable" // not a date of HTTP
)

// Encoded is the answer to a client that accepts gzip.
type Encoded struct {
	Encoding  string `json:"encoding"` // "": none
	Status    int    `json:"status"`
	BodyBytes int64  `json:"body_bytes"`
	Problem   string `json:"problem,omitempty"` // why there was none
}

// Unknown is the answer to a path that nobody has heard of.
type Unknown struct {
	Status   int    `json:"status"`
	SameBody bool   `json:"same_body"` // as the load's path
	Problem  string `json:"problem,omitempty"`
}

// Opens are the TCP connections that this machine opened for each exchange on a
// connection that is open already: 1 is a proxy that does not keep its
// connections to the upstream. Unix sockets have no counter and are not in it.
type Opens struct {
	PerExchange *float64 `json:"per_exchange,omitempty"` // nil: not known
	Problem     string   `json:"problem,omitempty"`      // why not
}

// Secrecy is what was agreed on below HTTP.
type Secrecy struct {
	Version string `json:"version"`
	Cipher  string `json:"cipher"`
	ALPN    string `json:"alpn,omitempty"`
	Key     string `json:"key"` // of the server's certificate, which a handshake pays for
}
