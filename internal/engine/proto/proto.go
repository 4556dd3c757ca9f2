// Package proto is the seam between load and the wire formats it speaks.
//
// A codec is one connection's protocol state and nothing else: it does no I/O, reads no clock,
// starts no goroutine, and allocates nothing once made. Bytes go in and events come out; requests
// go in and bytes come out. HTTP/1.1, HTTP/2 and FastCGI implement Codec. TLS implements it around
// another Codec. Neither load nor ring knows which of them a connection uses.
//
// An exchange is one request in flight and its response; a tag names it. WebSocket and streams of
// gRPC are not built: they need one more kind of Event, a part of a response before Done.
//
//	fault.go         what can be wrong with a response or a connection: the kinds of Fault, and
//	                 their remedies
//	message.go       a request with holes: fills them, and checks values and fields
//	messagecopy.go   a copy of a message that is kept
//	progress.go      how far an answer has come that has not ended
//	proto.go         Codec, Event, Protocol, Request
//	sink.go          Want, the parts of responses that somebody wants, and the Sink that gets them
package proto

// A Request is one to send. A run has a fixed set of them, compiled once; each message names one of
// the set, and has values for its holes.
type Request struct {
	Method    string
	Authority string // the value of Host, unless Header has a Host of its own
	Path      string // with the query, as it goes on the wire
	Header    []Field
	Body      []byte
	Holes     []Hole // in order: see CheckHoles

	// Auth is how it says who sends it, in place of the plan's: then its Authorization is
	// USER:PASSWORD, which package auth replaces. "": as the plan has it.
	Auth string
}

// A Field is one header line.
type Field struct{ Name, Value string }

// A Codec speaks one protocol on one connection.
type Codec interface {
	// Room is how many more requests the connection can take now: none during the
	// handshake, none once it is closing.
	Room() int

	// Encode begins exchange tag with a message, and appends to out what can be sent
	// at once. It is called only while Room() > 0.
	Encode(out []byte, m Message, tag uint32) []byte

	// Decode returns the next event and how many bytes of in it used. It returns
	// More only if the rest of in yields no event; the caller then passes the unused
	// bytes again, with those that followed. eof means that nothing will follow.
	// Decode(nil, true) is the last call on every codec, and releases what it holds.
	Decode(in []byte, eof bool) (n int, ev Event)

	// Flush appends what else the protocol owes the peer: a preface,
	// acknowledgements, the rest of a body. It is called when all that was
	// appended before has been sent, and again until it appends nothing. After
	// Broken it appends the reason for the peer, if the protocol has a message for it.
	Flush(out []byte) []byte
}

// A Canceler is a Codec that can give up one exchange and go on with the others.
type Canceler interface {
	// Cancel ends exchange tag: no event of it follows, and Flush appends what the
	// peer must know of it. It reports false and does nothing if this connection's
	// protocol cannot cancel.
	Cancel(tag uint32) bool
}

// A Dismisser is a Codec of a protocol in which a peer can give a reason when it ends a connection.
type Dismisser interface {
	// Dismissed is the peer's reason. Its Detail continues "the connection was". It is
	// nil if the peer gave no reason, or one that is no error.
	Dismissed() *Fault
}

// An Event is the meaning of bytes from the peer.
type Event struct {
	What
	Body int64 // Done: bytes of body received, after any transfer coding
	Err  error // Failed, Broken: why, usually a *Fault; Refused: why, if the peer gave a reason
}

// What is the part of an event that fits a few bytes. It is a type of its own so that an Event
// travels in registers: see RUNTIME.md.
type What struct {
	Kind    Kind
	Resumed bool   // Shaken: an earlier session was resumed
	Status  uint16 // Head: the status code
	Tag     uint32 // Head, Done, Refused, Failed: the exchange, as given to Encode;
	// Shaken: which of the protocols offered was chosen, from 1; 0: none was
}

// A Kind is a kind of Event.
type Kind uint8

const (
	More     Kind = iota // no event until more bytes arrive
	Shaken               // the handshake below the protocol is over
	Head                 // the status and header of the final response have arrived
	Done                 // the exchange is over and its response complete
	Refused              // the peer did not process the request: it may be retried
	Failed               // the exchange is over without its response; the connection goes on
	Closing              // no new requests on this connection; those begun may finish
	Interim              // a response of 1xx has arrived, of HTTP/1.1; the final one follows
	Broken               // the peer broke the protocol: every exchange begun has failed
	Tunneled             // a proxy's tunnel is open: the codec is to be replaced (package tunnel)
)

// A Protocol compiles a run's requests once, and returns the constructor of the codecs of its
// connections. Each codec gives its sink what is wanted of the responses; a nil sink is given
// nothing. Faults of the configuration are the Protocol's error; a codec cannot report them later.
type Protocol func(reqs []Request, want Want) (func(Sink) Codec, error)
