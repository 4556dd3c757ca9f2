// Package tls puts TLS around any other protocol: it implements proto.Codec by
// wrapping one, so that neither the worker nor the wrapped codec knows it is there.
//
// crypto/tls wants a net.Conn that blocks. Here the net.Conn is the bytes that
// the worker has just received and the bytes that it is about to send, and the
// handshake, the one thing that must wait in its middle, runs as a coroutine
// (iter.Pull) on the worker's own thread: it yields where it would block. After
// the handshake nothing waits: a read that wants more bytes than there are fails
// with an error which crypto/tls takes as temporary because it says it is.
//
// Handshakes in goroutines of their own, with the socket handed over afterwards,
// would be more usual; but a load of one connection per request would then pass
// through the scheduler twice for each of them.
//
// A connection holds nothing of ours between calls but part of a message. What
// crypto/tls is given to read never goes beyond the end of a record: so it keeps
// no more than one either, and we know, without asking, that after it nothing is
// left to decrypt. To ask would cost an allocation. crypto/tls itself allocates once
// for each record.
//
//	fault.go   words for handshakes that failed
//	quic.go    where QUIC does the handshake: what was negotiated, and words for failures
//	terms.go   what was negotiated: version, cipher, protocol
//	tls.go     the codec around a codec; handshakes, resumed sessions
//	wire.go    the net.Conn that crypto/tls reads and writes
package tls

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"dyno/internal/engine/proto"
)

// piece is how much plaintext is collected before it is sealed.
const piece = 64 << 10

// maxStage is how many bytes may wait to be sealed before there is no more room for requests.
// Without a limit a server could answer requests that it has not read.
const maxStage = 1 << 20

// Around returns TLS around the protocol of inner that the server chooses. Keys are ALPN names; the
// empty name is for servers that choose none. It fails if inner fails, if the config offers a name
// that inner lacks, and if no handshake could begin with the config. The config is copied. Its
// session cache is shared, unless resume is set: then each maker has a cache of its own.
//
// Codecs of one maker share buffers, so all of them must belong to one worker. Each worker calls
// the Protocol for a maker of its own. From its first Flush on, a codec must be used under the same
// thread lock (runtime.LockOSThread).
//
// After the handshake the codec returns Shaken, with the position of the chosen protocol in the
// config's NextProtos as Tag, and then the events of inner.
func Around(inner map[string]proto.Protocol, config *tls.Config, resume bool) proto.Protocol {
	return func(reqs []proto.Request, want proto.Want) (func(proto.Sink) proto.Codec, error) {
		s := &shared{config: config.Clone(), inner: make(map[string]func(proto.Sink) proto.Codec),
			settled: make(map[terms]int64)}
		s.config.DynamicRecordSizingDisabled = true // small records are for browsers
		if resume {
			s.config.ClientSessionCache = tls.NewLRUClientSessionCache(1) // for the only server
		}
		for _, name := range config.NextProtos {
			if inner[name] == nil {
				return nil, fmt.Errorf("tls: %q would be offered (ALPN) but cannot be spoken", name)
			}
		}
		if err := checkConfig(s.config); err != nil {
			return nil, err
		}
		for name, p := range inner {
			mk, err := p(reqs, want)
			if err != nil {
				return nil, err
			}
			s.inner[name] = mk
		}
		return func(sink proto.Sink) proto.Codec { return newCodec(s, sink) }, nil
	}
}

// checkConfig finds faults of a config without a server.
func checkConfig(config *tls.Config) error {
	err := tls.Client(&wire{eof: true}, config).Handshake()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil // it began the handshake, and had no peer
	}
	return fmt.Errorf("tls: these options allow no handshake: %w", err)
}

// shared is what the codecs of a worker share.
type shared struct {
	config  *tls.Config
	inner   map[string]func(proto.Sink) proto.Codec
	spare   [][]byte
	settled map[terms]int64
}

const (
	maxPlain = 16 << 10  // what one record can hold
	maxSpare = 16        // buffers that are kept for later use
	maxKept  = 256 << 10 // a buffer longer than that is not kept
)

func (s *shared) lendBuffer() []byte {
	n := len(s.spare)
	if n == 0 {
		return make([]byte, 0, maxPlain)
	}
	b := s.spare[n-1]
	s.spare = s.spare[:n-1]
	return b
}

func (s *shared) returnBuffer(b []byte) {
	if b != nil && len(s.spare) < maxSpare && cap(b) <= maxKept {
		s.spare = append(s.spare, b[:0])
	}
}

// A codec is one connection.
type codec struct {
	*shared
	phase    phase
	ended    bool // no more plaintext will come
	dry      bool // crypto/tls has returned all its plaintext
	wire     wire
	conn     *tls.Conn
	sink     proto.Sink              // of inner
	inner    proto.Codec             // nil until the handshake is over
	borrower proto.Borrower          // inner, if it is one
	shake    func() (struct{}, bool) // continues the handshake: false when it has ended
	err      error                   // how the handshake ended
	plain    []byte                  // decrypted; plain[used:] is not yet decoded. Lent
	used     int
	stage    []byte // to be sealed by the next Flush. Lent
}

type phase uint8

const (
	fresh phase = iota
	shaking
	shaken
	dead
)

func newCodec(s *shared, sink proto.Sink) *codec {
	c := &codec{shared: s, sink: sink}
	c.conn = tls.Client(&c.wire, s.config)
	return c
}

func (c *codec) Room() int {
	if c.phase != shaken || len(c.stage) > maxStage {
		return 0
	}
	return c.inner.Room()
}

func (c *codec) Encode(out []byte, m proto.Message, tag uint32) []byte {
	if c.stage == nil {
		c.stage = c.lendBuffer()
	}
	c.stage = c.inner.Encode(c.stage, m, tag)
	return out
}

func (c *codec) Flush(out []byte) []byte {
	if c.phase == fresh {
		c.startHandshake()
	}
	out = append(out, c.wire.out...)
	c.wire.out = nil
	if c.phase != shaken {
		return out
	}
	if c.stage == nil {
		c.stage = c.lendBuffer()
	}
	if len(c.stage) < piece {
		c.stage = c.inner.Flush(c.stage)
	}
	if len(c.stage) > 0 {
		c.wire.out = out
		c.conn.Write(c.stage) // into memory; it fails only after Read failed, which is reported
		out, c.wire.out = c.wire.out, nil
	}
	c.returnBuffer(c.stage)
	c.stage = nil
	return out
}

func (c *codec) Decode(in []byte, eof bool) (int, proto.Event) {
	if c.phase == dead {
		return len(in), proto.Event{}
	}
	c.wire.in, c.wire.eof = in, eof
	ev := c.nextEvent()
	n := len(in) - len(c.wire.in)
	c.wire.in = nil
	more := ev.Kind == proto.More
	if c.used == len(c.plain) || more && c.ended {
		c.returnBuffer(c.plain)
		c.plain, c.used = nil, 0
	}
	if more { // what follows the end of TLS is ignored
		n = len(in)
	}
	return n, ev
}

// Cancel is Cancel of the inner protocol, if it has one.
func (c *codec) Cancel(tag uint32) bool {
	inner, can := c.inner.(proto.Canceler)
	return can && inner.Cancel(tag)
}

// Borrows is Borrows of the inner protocol, if it has one.
func (c *codec) Borrows(tag uint32) bool { return c.borrower != nil && c.borrower.Borrows(tag) }

// Progress is Progress of the inner protocol, if it has one.
func (c *codec) Progress(tag uint32) (p proto.Progress) {
	if inner, can := c.inner.(proto.Progressor); can {
		p = inner.Progress(tag)
	}
	return p
}

// Dismissed is Dismissed of the inner protocol, if it has one.
func (c *codec) Dismissed() *proto.Fault {
	if inner, can := c.inner.(proto.Dismisser); can {
		return inner.Dismissed()
	}
	return nil
}

func (c *codec) nextEvent() proto.Event {
	if c.phase != shaken {
		return c.stepHandshake()
	}
	for {
		n, ev := c.inner.Decode(c.plain[c.used:], c.ended)
		if c.used += n; ev.Kind != proto.More || c.ended {
			return ev
		}
		switch ok, err := c.decryptRecord(); {
		case err != nil:
			return c.brokenEvent(recordFault(err))
		case !ok:
			return ev
		}
	}
}

// decryptRecord decrypts the next record, or finds that none will follow. It returns false if it
// needs more bytes.
func (c *codec) decryptRecord() (bool, error) {
	if c.dry && len(c.wire.in) == 0 && !c.wire.eof {
		return false, nil
	}
	if c.plain == nil {
		c.plain = c.lendBuffer()
	}
	rest := copy(c.plain, c.plain[c.used:])
	c.plain, c.used = c.plain[:rest], 0
	if rest == cap(c.plain) {
		c.plain = append(c.plain, 0)[:rest]
	}
	free := c.plain[rest:cap(c.plain)]
	n, err := c.conn.Read(free)
	c.plain, c.dry = c.plain[:rest+n], n < len(free)
	switch {
	case n > 0:
		return true, nil // an error will be returned again
	case err == errAgain:
		return false, nil
	case err == io.EOF:
		c.ended = true
		return true, nil
	}
	return false, err
}

// startHandshake begins the handshake.
func (c *codec) startHandshake() {
	c.phase = shaking
	c.shake, _ = iter.Pull(func(yield func(struct{}) bool) {
		c.wire.wait = func() { yield(struct{}{}) }
		c.err = c.conn.Handshake()
		c.wire.wait = nil
	})
	c.shake()
}

func (c *codec) stepHandshake() proto.Event {
	if c.phase == fresh {
		if c.wire.eof {
			return c.brokenEvent(faultClosed)
		}
		c.startHandshake()
	}
	if _, waits := c.shake(); waits {
		return proto.Event{}
	}
	c.shake = nil
	if c.err != nil {
		return c.brokenEvent(handshakeFault(c.err))
	}
	state := c.conn.ConnectionState()
	mk := c.shared.inner[state.NegotiatedProtocol]
	if mk == nil {
		return c.brokenEvent(noProtocol(state.NegotiatedProtocol, c.config.NextProtos))
	}
	c.phase, c.inner = shaken, mk(c.sink)
	c.borrower, _ = c.inner.(proto.Borrower)
	c.settled[terms{state.Version, state.CipherSuite, state.CurveID}]++
	chosen := slices.Index(c.config.NextProtos, state.NegotiatedProtocol) + 1
	what := proto.What{Kind: proto.Shaken, Resumed: state.DidResume, Tag: uint32(chosen)}
	return proto.Event{What: what}
}

// brokenEvent frees everything: no event follows.
func (c *codec) brokenEvent(f *proto.Fault) proto.Event {
	if c.inner != nil {
		c.inner.Decode(nil, true)
	}
	c.returnBuffer(c.plain)
	c.returnBuffer(c.stage)
	c.plain, c.stage, c.phase = nil, nil, dead
	return proto.Event{What: proto.What{Kind: proto.Broken}, Err: f}
}
