package h2

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"dyno/internal/engine/proto"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A said is what a codec has sent, as golang.org/x/net reads it.
type said struct {
	headers map[uint32][]hpack.HeaderField
	body    map[uint32]int // bytes of DATA
	ended   map[uint32]bool
}

// A reader is a server's half of a connection that never answers.
type reader struct {
	t       *testing.T
	greeted bool
	hpack   *hpack.Decoder
	said
}

func newReader(t *testing.T) *reader {
	return &reader{t: t, hpack: hpack.NewDecoder(defaultTable, nil), said: said{
		headers: map[uint32][]hpack.HeaderField{}, body: map[uint32]int{}, ended: map[uint32]bool{}}}
}

// read takes frames, and returns them as words.
func (r *reader) read(b []byte) string {
	r.t.Helper()
	if !r.greeted && len(b) > 0 {
		rest, ok := bytes.CutPrefix(b, []byte(http2.ClientPreface))
		if !ok {
			r.t.Fatalf("no preface: %q", b)
		}
		r.greeted, b = true, rest
	}
	fr := http2.NewFramer(io.Discard, bytes.NewReader(b))
	fr.ReadMetaHeaders = r.hpack
	fr.SetMaxReadFrameSize(1 << 24)
	var words []string
	for {
		f, err := fr.ReadFrame()
		if err == io.EOF {
			return strings.Join(words, " ")
		}
		if err != nil {
			r.t.Fatalf("%v: %v", err, fr.ErrorDetail())
		}
		words = append(words, r.word(f))
	}
}

func (r *reader) word(f http2.Frame) string {
	id := f.Header().StreamID
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		r.headers[id], r.ended[id] = f.Fields, f.StreamEnded()
		return fmt.Sprintf("headers:%d", id)
	case *http2.DataFrame:
		r.body[id] += len(f.Data())
		if r.ended[id] {
			r.t.Errorf("DATA on stream %d after its end", id)
		}
		r.ended[id] = f.StreamEnded()
		return fmt.Sprintf("data:%d+%d", id, len(f.Data()))
	case *http2.SettingsFrame:
		if f.IsAck() {
			return "ack"
		}
		return fmt.Sprintf("settings:%d", f.NumSettings())
	case *http2.PingFrame:
		if f.IsAck() {
			return "pong:" + string(f.Data[:])
		}
		return "ping:" + string(f.Data[:])
	case *http2.RSTStreamFrame:
		return fmt.Sprintf("rst:%d %v", id, f.ErrCode)
	case *http2.WindowUpdateFrame:
		return fmt.Sprintf("window:%d+%d", id, f.Increment)
	case *http2.GoAwayFrame:
		return fmt.Sprintf("goaway:%d %v", f.LastStreamID, f.ErrCode)
	}
	return fmt.Sprintf("%T", f)
}

// flush is all that c has to say.
func (r *reader) flush(c proto.Codec) string {
	var all []byte
	for out := c.Flush(nil); len(out) > 0; out = c.Flush(out[:0]) {
		all = append(all, out...)
	}
	return r.read(all)
}

// hear gives c all of speech, and returns its events.
func hear(t *testing.T, c proto.Codec, speech string) string {
	t.Helper()
	var got []proto.Event
	for in := []byte(speech); ; {
		n, ev := c.Decode(in, false)
		if in = in[n:]; ev.Kind == proto.More {
			if len(in) > 0 {
				t.Fatalf("%d bytes left over", len(in))
			}
			return tell(got)
		}
		got = append(got, ev)
	}
}

// begin is a connection whose server has said that much.
func begin(t *testing.T, o Options, speech string, reqs ...proto.Request) (*codec, *reader) {
	c, r := newTestCodec(t, o, reqs...), newReader(t)
	r.flush(c)
	hear(t, c, speech)
	if got := r.flush(c); got != "ack" {
		t.Fatalf("SETTINGS: %q", got)
	}
	return c, r
}

func TestPreface(t *testing.T) {
	for _, tc := range []struct {
		options Options
		want    string
	}{
		{Options{}, "settings:3 window:0+1073676288"},
		{Options{NoTable: true}, "settings:4 window:0+1073676288"},
	} {
		c, r := newTestCodec(t, tc.options, get), newReader(t)
		if got := r.flush(c); got != tc.want {
			t.Errorf("%+v: %q", tc.options, got)
		}
		if got := r.flush(c); got != "" {
			t.Errorf("again: %q", got)
		}
	}
}

// SETTINGS and PING are answered, each, in the next Flush.
func TestAcknowledged(t *testing.T) {
	c, r := begin(t, Options{}, settled, get)
	hear(t, c, settled+settled+fr(framePing, 0, 0, "12345678")+fr(framePing, 0, 0, "abcdefgh"))
	if got := r.flush(c); got != "ack ack pong:12345678 pong:abcdefgh" {
		t.Errorf("%q", got)
	}
}

// Room follows MAX_CONCURRENT_STREAMS, whichever way it moves.
func TestRoom(t *testing.T) {
	c, _ := begin(t, Options{Streams: 10}, settled, get)
	limit := func(n uint32) string { return fr(frameSettings, 0, 0, set(3, n)) }
	for _, step := range []struct {
		speech string
		encode int
		room   int // afterwards
	}{
		{"", 4, 6}, {limit(5), 0, 1}, {limit(2), 0, 0}, {reply(1), 0, 0}, {reply(3), 0, 0},
		{reply(7), 0, 1}, {limit(0), 0, 0}, {limit(1 << 31), 0, 9}, {limit(100), 9, 0},
		{reply(5), 0, 1},
	} {
		hear(t, c, step.speech)
		for range step.encode {
			c.Encode(nil, proto.Message{}, 0)
		}
		if c.Room() != step.room {
			t.Errorf("after %q and %d requests: room for %d, want %d",
				step.speech, step.encode, c.Room(), step.room)
		}
	}
}

// However the server moves its windows, nothing is sent that they do not allow,
// and everything in the end.
func TestUploads(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var reqs []proto.Request
		for range 8 {
			reqs = append(reqs, proto.Request{Method: "PUT", Path: "/",
				Body: make([]byte, 1+rng.IntN(1<<uint(1+rng.IntN(19))))})
		}
		c, r := begin(t, Options{Streams: 8}, settled, reqs...)
		initial, conn, sent := int64(firstWindow), int64(firstWindow), int64(0)
		window := map[uint32]int64{} // granted, in all
		last := map[uint32]int{}
		check := func() {
			sent = 0
			for id, n := range r.body {
				sent += int64(n)
				if n > last[id] && int64(n) > window[id] {
					t.Fatalf("seed %d: stream %d: %d bytes into a window of %d", seed, id, n, window[id])
				}
				last[id] = n
			}
			if sent > conn {
				t.Fatalf("seed %d: %d bytes sent into a window of %d", seed, sent, conn)
			}
		}
		grant := func() {
			n := uint32(1 + rng.IntN(60_000))
			switch id := uint32(1 + 2*rng.IntN(len(reqs))); rng.IntN(4) {
			case 0:
				v := int64(rng.IntN(200_000))
				hear(t, c, fr(frameSettings, 0, 0, set(4, uint32(v)), set(5, frameMin+n)))
				for id := range window {
					window[id] += v - initial
				}
				initial = v
			case 1:
				conn += int64(n)
				hear(t, c, fr(frameWindow, 0, 0, u32(n)))
			default:
				if _, begun := window[id]; begun {
					window[id] += int64(n)
					hear(t, c, fr(frameWindow, 0, id, u32(n)))
				}
			}
		}
		begun, left := 0, len(reqs)
		for turn := 0; left > 0; turn++ {
			if turn == 100_000 {
				t.Fatalf("seed %d: no end; %v of window %v, %d of %d", seed, r.body, window, sent, conn)
			}
			if begun < len(reqs) && rng.IntN(3) == 0 {
				window[c.next] = initial
				r.read(c.Encode(nil, proto.Message{Request: begun}, uint32(begun)))
				begun++
				check()
			}
			grant()
			r.flush(c)
			check()
			left = len(reqs)
			for id := range r.ended {
				if total := len(reqs[id/2].Body); r.ended[id] {
					if left--; r.body[id] != total {
						t.Fatalf("seed %d: stream %d ended after %d of %d", seed, id, r.body[id], total)
					}
				}
			}
		}
	}
}

// A long body goes out in pieces, and streams take turns.
func TestPieces(t *testing.T) {
	put := proto.Request{Method: "PUT", Path: "/", Body: make([]byte, 1<<20)}
	c, r := begin(t, Options{Streams: 2},
		fr(frameSettings, 0, 0, set(4, 1<<30))+fr(frameWindow, 0, 0, u32(1<<30)), put)
	out := c.Encode(c.Encode(nil, proto.Message{}, 0), proto.Message{}, 1)
	for len(out) > 0 {
		if len(out) > 2*piece {
			t.Fatalf("%d bytes at once", len(out))
		}
		r.read(out)
		if a, b := r.body[1], r.body[3]; a-b > 2*piece || b-a > piece {
			t.Fatalf("%d bytes of one, %d of the other", a, b)
		}
		out = c.Flush(out[:0])
	}
	if r.body[1] != 1<<20 || r.body[3] != 1<<20 || !r.ended[1] || !r.ended[3] {
		t.Errorf("%v sent", r.body)
	}
}

// Receive windows are opened again in large steps, before they are used up.
func TestReplenished(t *testing.T) {
	c, r := begin(t, Options{Streams: 2}, settled, get)
	c.Encode(nil, proto.Message{}, 0)
	hear(t, c, head(1, ":status: 200"))
	frame := []byte(fr(frameData, 0, 1, strings.Repeat("x", frameMin)))
	var got []string
	for range 3 << 30 / frameMin {
		if n, ev := c.Decode(frame, false); n != len(frame) || ev.Kind != proto.More {
			t.Fatal(n, ev)
		}
		if out := c.Flush(nil); len(out) > 0 {
			got = append(got, r.read(out))
		}
	}
	const half = (receiveWindow/2/frameMin + 1) * frameMin
	step := fmt.Sprintf("window:1+%d window:0+%d", half+frameMin, half+frameMin)
	if len(got) != 5 || got[0] != step || got[4] != step {
		t.Errorf("%q, want each %q", got, step)
	}
	if got := hear(t, c, data(1, "")); got != "0+3221225472" {
		t.Errorf("3 GiB received: %q", got)
	}
}

// A server that sends more than we allow.
func TestOverrun(t *testing.T) {
	c, _ := begin(t, Options{Streams: 2}, settled, get)
	c.Encode(nil, proto.Message{}, 0)
	hear(t, c, head(1, ":status: 200"))
	frame := []byte(fr(frameData, 0, 1, strings.Repeat("x", frameMin)))
	for n := frameMin; ; n += frameMin {
		_, ev := c.Decode(frame, false)
		if got := tell([]proto.Event{ev}); ev.Kind != proto.More {
			if n <= receiveWindow || got != "flow-control" {
				t.Errorf("%q after %d bytes", got, n)
			}
			return
		}
		if n > receiveWindow {
			t.Fatalf("%d bytes taken", n)
		}
	}
}

// However a server provokes resets, the streams that it may still have to carry
// are counted until a PING has shown that it knows.
func TestResetsAreBounded(t *testing.T) {
	c, r := begin(t, Options{Streams: 4}, settled, get)
	bad := func(id uint32) string { return head(id, "a: b") }
	for range 4 {
		r.read(c.Encode(nil, proto.Message{}, 0))
	}
	if got := hear(t, c, bad(1)+bad(3)); got != "0:malformed 0:malformed" || c.Room() != 0 {
		t.Fatalf("%q, room for %d", got, c.Room())
	}
	if got := r.flush(c); got != "rst:1 PROTOCOL_ERROR rst:3 PROTOCOL_ERROR ping:dyno rst" {
		t.Fatalf("%q", got)
	}
	hear(t, c, bad(5))
	if got := r.flush(c); got != "rst:5 PROTOCOL_ERROR" || c.Room() != 0 {
		t.Fatalf("%q, room for %d", got, c.Room())
	}
	hear(t, c, fr(framePing, flagAck, 0, "whatever")+reply(1)) // what was on its way
	if c.Room() != 0 {
		t.Fatal("room for", c.Room())
	}
	hear(t, c, fr(framePing, flagAck, 0, "dyno rst"))
	if got := r.flush(c); got != "ping:dyno rst" || c.Room() != 2 {
		t.Fatalf("%q, room for %d", got, c.Room())
	}
	hear(t, c, fr(framePing, flagAck, 0, "dyno rst"))
	if got := r.flush(c); got != "" || c.Room() != 3 {
		t.Fatalf("%q, room for %d", got, c.Room())
	}
	_, ev := c.Decode([]byte(data(1, "")), false)
	if tell([]proto.Event{ev}) != "violation" {
		t.Errorf("%+v", ev)
	}
}

// An answer before all of the request was sent: the rest is not sent, and the
// server is told, unless it has said so itself.
func TestEarlyAnswer(t *testing.T) {
	put := proto.Request{Method: "PUT", Path: "/", Body: make([]byte, 1<<20)}
	for _, tc := range []struct{ speech, want, sends string }{
		{reply(1), "0:200 0+5", "rst:1 CANCEL ping:dyno rst"},
		{reply(1) + fr(frameReset, 0, 1, u32(0)), "0:200 0+5", ""},
		{fr(frameReset, 0, 1, u32(5)), "0:rst-stream-closed", ""},
		{fr(frameGoAway, 0, 0, u32(0), u32(0)), "0:refused closing", ""},
	} {
		c, r := begin(t, Options{Streams: 2}, settled, put)
		r.read(c.Encode(nil, proto.Message{}, 0))
		if got := hear(t, c, tc.speech); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
		hear(t, c, fr(frameWindow, 0, 0, u32(1<<30)))
		if got := r.flush(c); got != tc.sends {
			t.Errorf("%q, want %q", got, tc.sends)
		}
	}
}

// The last exchange says so, and so does the one that has the last id.
func TestLast(t *testing.T) {
	c, r := begin(t, Options{Streams: 3, CloseAfter: 2}, settled, get)
	r.read(c.Encode(c.Encode(nil, proto.Message{}, 0), proto.Message{}, 1))
	if got := r.flush(c); got != "goaway:0 NO_ERROR" || c.Room() != 0 {
		t.Errorf("%q, room for %d", got, c.Room())
	}
	if got := hear(t, c, reply(3)+reply(1)); got != "1:200 1+5 0:200 0+5 closing" {
		t.Errorf("%q", got)
	}

	c, r = begin(t, Options{Streams: 3}, settled, get)
	c.next = maxID - 2
	r.read(c.Encode(c.Encode(nil, proto.Message{}, 0), proto.Message{}, 1))
	if got := r.flush(c); got != "goaway:0 NO_ERROR" || c.Room() != 0 {
		t.Errorf("%q, room for %d", got, c.Room())
	}
	if got := hear(t, c, reply(maxID)+reply(maxID-2)); got != "1:200 1+5 0:200 0+5 closing" {
		t.Errorf("%q", got)
	}
}

// Streams find their slots, whatever becomes of the others.
func TestStreams(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, size := range []int{1, 2, 3, 100, 1000} {
		s := newStreams(size)
		open := map[uint32]uint16{}
		for id := uint32(1); id < 20_000; id += 2 {
			for len(open) == size || len(open) > 0 && rng.IntN(3) == 0 {
				for old, slot := range open { // any
					delete(open, old)
					s.removeStream(slot)
					break
				}
			}
			open[id] = s.addStream(id, stream{tag: id})
			if id%64 == 1 {
				for id, slot := range open {
					if got, ok := s.slotOfID(id); !ok || got != slot || s.slots[slot].tag != id {
						t.Fatalf("stream %d is in %d, not %d", id, got, slot)
					}
				}
			}
			if _, ok := s.slotOfID(id + 2); ok || s.open != len(open) {
				t.Fatal("a stream too many")
			}
		}
	}
}
