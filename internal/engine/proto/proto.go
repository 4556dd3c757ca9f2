// Package proto is the seam between load and the wire formats it speaks.
//
// A codec is one connection's protocol state and nothing else: it does no I/O,
// reads no clock, starts no goroutine, and allocates nothing once made. Bytes
// go in and events come out; requests go in and bytes come out. HTTP/1.1
// implements Codec, and so do HTTP/2 and FastCGI; TLS implements it around
// another Codec: neither load nor ring knows which of them it carries.
package proto

// A Request is one message to send. A run has a fixed set of them, encoded once.
type Request struct {
	Method    string
	Authority string // what Host says, unless Header has a Host of its own
	Path      string // with the query, as it goes on the wire
	Header    []Field
	Body      []byte
}

// A Field is one header line.
type Field struct{ Name, Value string }

// A Codec speaks one protocol on one connection.
type Codec interface {
	// Room is how many more requests the connection can take now: none while
	// shaking hands, none once it is closing.
	Room() int

	// Encode begins exchange tag with request i of the run's set, appending to
	// out what can be sent at once. It is called only while Room() > 0.
	Encode(out []byte, i int, tag uint32) []byte

	// Decode takes one event off the front of in and says how much of in it
	// used. It returns More only when what is left of in yields no event; the
	// caller then comes back with the unused bytes and what followed them.
	// eof says that nothing will follow; Decode(nil, true) is the last call on
	// every codec, and lets go of whatever it holds.
	Decode(in []byte, eof bool) (n int, ev Event)

	// Flush appends what else the protocol owes the peer: a preface,
	// acknowledgements, the rest of a body. It is called when all that was
	// appended before has been sent, and again until it appends nothing. After
	// Broken that is why the connection ends, if the peer is to be told.
	Flush(out []byte) []byte
}

// A Canceler is a Codec that can give up one exchange and go on with the others.
type Canceler interface {
	// Cancel gives up exchange tag, of which nothing more will be told; what the
	// peer has to know of it is Flush's to append. It reports false, and does
	// nothing, if this connection's protocol cannot.
	Cancel(tag uint32) bool
}

// A Dismisser is a Codec of a protocol in which a peer can say what was wrong when it
// ends a connection.
type Dismisser interface {
	// Dismissed is what it said, in a Detail before which "the connection was" can
	// stand; nil if it said nothing, or that all is in order.
	Dismissed() *Fault
}

// An Event is what the peer's bytes meant.
type Event struct {
	What
	Body int64 // Done: bytes of body received, after any transfer coding
	Err  error // Failed, Broken: why, usually a *Fault; Refused: why, if the peer said so
}

// What an event says in a few bytes.
//
// Note: it is a type of its own because the compiler keeps a struct in registers
// only if it, and each struct in it, has at most four fields. With its six in a
// row an Event went through memory at every return: 14 ns a call instead of 3.
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
	More    Kind = iota // nothing to tell until more bytes come
	Shaken              // the handshake below the protocol is over
	Head                // the status and header of the final response are in
	Done                // the exchange is over and its response complete
	Refused             // the peer did not process the exchange: it may be sent again
	Failed              // the exchange is over without its response; the connection goes on
	Closing             // no new requests on this connection; those begun may finish
	Broken              // the peer broke the protocol: every exchange begun has failed
)

// A Protocol encodes a run's requests once, and returns what makes a codec for
// each connection that will carry them. What is wrong with its configuration
// is found here and nowhere later: a codec cannot report it.
type Protocol func(reqs []Request) (func() Codec, error)
