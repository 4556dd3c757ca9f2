package h2

import (
	"fmt"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
)

// What a client must say, or must not, when a server has said something on a connection
// with the three requests of package conform. The numbers are RFC 9113's sections.
func TestAnswers(t *testing.T) {
	const probed = " ping:dyno rst" // after our resets
	grant := fr(frameWindow, 0, 0, u32(1<<20))
	window := func(n uint32) string { return fr(frameSettings, 0, 0, set(initialWindowSize, n)) }
	for _, tc := range []struct{ section, name, speech, want string }{
		{"6.5.3", "SETTINGS are acknowledged", settled, "ack"},
		{"6.5.3", "each of them", settled + settled + settled, "ack ack ack"},
		{"6.5.3", "unknown ones too", fr(frameSettings, 0, 0, set(0xabc, 1)), "ack"},
		{"6.5.3", "but no acknowledgement is", fr(frameSettings, flagAck, 0), ""},
		{"6.7", "PING is answered with what it carries", fr(framePing, 0, 0, "abcdefgh"), "pong:abcdefgh"},
		{"6.7", "but no answer is", fr(framePing, flagAck, 0, "abcdefgh"), ""},
		{"4.1", "nor what is unknown", fr(99, 0xff, 1, "abcdefgh"), ""},
		{"6.3", "PRIORITY of a wrong length", fr(framePriority, 0, 1, "abcd"),
			"rst:1 FRAME_SIZE_ERROR" + probed},
		{"5.4.2", "RST_STREAM is not answered with its like", fr(frameReset, 0, 1, u32(8)), ""},
		{"5.4.2", "not even to one that we owe", head(1, "a: b") + fr(frameReset, 0, 1, u32(8)), ""},
		{"8.1.1", "a malformed response is reset", head(1, "a: b"), "rst:1 PROTOCOL_ERROR" + probed},
		{"8.1.1", "unless its stream has ended", fr(frameHeaders, 5, 1, hdr("a: b")), ""},
		{"8.1.1", "a body too long", head(1, ":status: 200", "content-length: 1") +
			fr(frameData, 0, 1, "ab"), "rst:1 PROTOCOL_ERROR" + probed},
		{"5.1", "an answer before the request's end", reply(5), "rst:5 CANCEL" + probed},
		{"8.1", "no request goes on when nobody wants it", reply(5) + fr(frameReset, 0, 5, u32(0)) + grant, ""},
		{"10.5", "headers without end", strings.Repeat(head(1, ":status: 100"), 100), "rst:1 CANCEL" + probed},
		{"6.9", "a window opened by nothing", fr(frameWindow, 0, 1, u32(0)),
			"rst:1 PROTOCOL_ERROR" + probed},
		{"6.9.1", "a window opened too far", fr(frameWindow, 0, 1, u32(maxWindow)),
			"rst:1 FLOW_CONTROL_ERROR" + probed},
		{"6.9.1", "nothing is sent into the connection's window alone", grant, ""},
		{"6.9.1", "nor into the stream's", fr(frameWindow, 0, 5, u32(1<<20)), ""},
		{"6.9.1", "into both no more than either has", grant + fr(frameWindow, 0, 5, u32(7)), "data:5+7"},
		{"6.9.1", "to the last byte", grant + fr(frameWindow, 0, 5, u32(1<<20)),
			"data:5+16384 data:5+16384 data:5+1697"},
		{"6.9.2", "SETTINGS open windows", grant + window(firstWindow+9), "ack data:5+9"},
		{"6.9.2", "and close them", window(0) + grant + fr(frameWindow, 0, 5, u32(firstWindow)), "ack"},
		{"6.9.2", "to the byte", window(0) + grant + fr(frameWindow, 0, 5, u32(firstWindow+1)),
			"ack data:5+1"},
		{"6.9.2", "the last ones count", grant + window(1<<20) + window(firstWindow+2), "ack ack data:5+2"},
		{"4.2", "frames of the size that is allowed", fr(frameSettings, 0, 0, set(maxFrameSize, 1<<24-1)) +
			grant + fr(frameWindow, 0, 5, u32(1<<20)), "ack data:5+34465"},
		{"6.8", "what is refused is not sent", fr(frameGoAway, 0, 0, u32(3), u32(0)) + grant +
			fr(frameWindow, 0, 5, u32(1<<20)), ""},
		{"6.8", "what is not goes on", fr(frameGoAway, 0, 0, u32(5), u32(0)) + grant +
			fr(frameWindow, 0, 5, u32(9)), "data:5+9"},
	} {
		t.Run(tc.section+" "+tc.name, func(t *testing.T) {
			c, r := open3(t, Options{}), newReader(t)
			r.greeted = true
			if got := r.flush(c); got != "ack" {
				t.Fatalf("before: %q", got)
			}
			hear(t, c, tc.speech)
			if got := r.flush(c); got != tc.want {
				t.Errorf("said %q, want %q", got, tc.want)
			}
		})
	}
}

// The last word allocates nothing, nor does a server get any other answer before it.
func TestLastWordAllocatesNothing(t *testing.T) {
	c := open3(t, Options{})
	hear(t, c, fr(framePing, 0, 0, "abcdefgh")+fr(framePing, 0, 1, "abcdefgh"))
	var out []byte
	n := testing.AllocsPerRun(100, func() {
		c.bye = true
		out = c.Flush(out[:0])
	})
	if r := newReader(t); n != 0 {
		t.Errorf("%v allocations", n)
	} else if r.greeted = true; r.read(out) != "goaway:0 PROTOCOL_ERROR" {
		t.Errorf("it says %q", out)
	}
}

// Over TLS a server can speak, and be wrong, before the client has begun: then the client
// begins before it leaves, or it would be who breaks the protocol.
func TestLastWordIsNotTheFirst(t *testing.T) {
	c, r := newTestCodec(t, Options{}, get), newReader(t)
	hear(t, c, fr(framePing, 0, 0, "abcdefgh"))
	if got := r.flush(c); !r.greeted || !strings.HasSuffix(got, " goaway:0 PROTOCOL_ERROR") {
		t.Errorf("it says %q", got)
	}
	if got := r.flush(c); got != "" {
		t.Errorf("and then %q", got)
	}
}

// DATA counts against the connection's window also if its stream is of no interest any
// more (RFC 9113, 6.9): else the window would be used up by it.
func TestDataThatNobodyWantsCounts(t *testing.T) {
	c, r := begin(t, Options{Streams: 2}, settled, get)
	c.Encode(nil, proto.Message{}, 0)
	hear(t, c, head(1, "a: b"))
	r.flush(c)
	frame := []byte(fr(frameData, 0, 1, strings.Repeat("x", frameMin)))
	var got []string
	for range receiveWindow / frameMin {
		if n, ev := c.Decode(frame, false); n != len(frame) || ev.Kind != proto.More {
			t.Fatal(n, ev)
		}
		if out := c.Flush(nil); len(out) > 0 {
			got = append(got, r.read(out))
		}
	}
	const half = (receiveWindow/2/frameMin + 1) * frameMin
	if want := fmt.Sprintf("window:0+%d", half+frameMin); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}
