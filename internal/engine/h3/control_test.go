package h3

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// hearControl hears a control stream in pieces, and says what was wrong, and whether the server leaves.
func hearControl(t *testing.T, stream string, size int) string {
	t.Helper()
	r, _ := open(t, ring.Addr{}, []proto.Request{get}, proto.Want{})
	c, frames := &conn{ring: r, leave: func() {}}, frameReader{}
	err := feed(stream, size, &frames, &control{conn: c})
	if cap(frames.kept) > 2*controlMost {
		t.Errorf("%d bytes are kept", cap(frames.kept))
	}
	if v := (*violation)(nil); errors.As(err, &v) {
		return v.code.String()
	}
	return fmt.Sprint("leaves ", c.gone.Load())
}

// What a server may say on its control stream, and what it may not.
func TestControl(t *testing.T) {
	settings, leave := frame(4, "\x06\x10\x33\x01"), func(id string) string { return frame(7, id) }
	for name, tc := range map[string]struct{ stream, want string }{
		"settings":                         {settings, "leaves false"},
		"none":                             {frame(4, ""), "leaves false"},
		"others":                           {settings + frame(0x21, "x") + frame(0x4040, ""), "leaves false"},
		"GOAWAY":                           {settings + leave("\x08"), "leaves true"},
		"GOAWAY, going down":               {settings + leave("\x7f\xfc") + leave("\x04") + leave("\x04"), "leaves true"},
		"GOAWAY, going up":                 {settings + leave("\x04") + leave("\x08"), "H3_ID_ERROR"},
		"GOAWAY of a push":                 {settings + leave("\x05"), "H3_ID_ERROR"},
		"GOAWAY, cut":                      {settings + leave("\x40"), "H3_FRAME_ERROR"},
		"GOAWAY, long":                     {settings + leave("\x04\x04"), "H3_FRAME_ERROR"},
		"GOAWAY, longer":                   {settings + leave("123456789"), "H3_FRAME_ERROR"},
		"GOAWAY, empty":                    {settings + leave(""), "H3_FRAME_ERROR"},
		"GOAWAY without end":               {settings + strings.Repeat(leave("\x04"), leavesMost+1), "H3_EXCESSIVE_LOAD"},
		"GOAWAY first":                     {leave("\x04"), "H3_MISSING_SETTINGS"},
		"an unknown first":                 {frame(0x21, ""), "H3_MISSING_SETTINGS"},
		"twice":                            {settings + settings, "H3_FRAME_UNEXPECTED"},
		"a setting twice":                  {frame(4, "\x06\x10\x06\x10"), "H3_SETTINGS_ERROR"},
		"ENABLE_PUSH of HTTP/2":            {frame(4, "\x02\x01"), "H3_SETTINGS_ERROR"},
		"MAX_CONCURRENT_STREAMS of HTTP/2": {frame(4, "\x03\x01"), "H3_SETTINGS_ERROR"},
		"INITIAL_WINDOW_SIZE of HTTP/2":    {frame(4, "\x04\x01"), "H3_SETTINGS_ERROR"},
		"MAX_FRAME_SIZE of HTTP/2":         {frame(4, "\x05\x01"), "H3_SETTINGS_ERROR"},
		"a cut setting":                    {frame(4, "\x06"), "H3_FRAME_ERROR"},
		"a cut value":                      {frame(4, "\x06\x40"), "H3_FRAME_ERROR"},
		"endless settings":                 {frame(4, strings.Repeat("\x06\x10", controlMost))[:9], "H3_FRAME_ERROR"},
		"endless GOAWAY":                   {settings + frame(7, strings.Repeat("\x04", controlMost+1))[:9], "H3_FRAME_ERROR"},
		"DATA":                             {settings + frame(0, "x"), "H3_FRAME_UNEXPECTED"},
		"HEADERS":                          {settings + headers("a", "b"), "H3_FRAME_UNEXPECTED"},
		"PUSH_PROMISE":                     {settings + frame(5, "\x00"), "H3_FRAME_UNEXPECTED"},
		"CANCEL_PUSH":                      {settings + frame(3, "\x00"), "H3_ID_ERROR"},
		"MAX_PUSH_ID":                      {settings + frame(0xd, "\x00"), "H3_FRAME_UNEXPECTED"},
		"PRIORITY_UPDATE":                  {settings + frame(0xf0700, "\x00"), "H3_FRAME_UNEXPECTED"},
		"PRIORITY of HTTP/2":               {settings + frame(2, "12345"), "H3_FRAME_UNEXPECTED"},
		"PING of HTTP/2":                   {settings + frame(6, "12345678"), "H3_FRAME_UNEXPECTED"},
		"WINDOW_UPDATE of HTTP/2":          {settings + frame(8, "1234"), "H3_FRAME_UNEXPECTED"},
		"CONTINUATION of HTTP/2":           {settings + frame(9, ""), "H3_FRAME_UNEXPECTED"},
		"DATA first":                       {frame(0, ""), "H3_MISSING_SETTINGS"},
		"CANCEL_PUSH first":                {frame(3, "\x00"), "H3_MISSING_SETTINGS"},
		"a reserved setting":               {frame(4, "\x21\x05\x40\x40\x01"), "leaves false"},
		"settings of QPACK":                {frame(4, "\x01\x50\x00\x07\x10"), "leaves false"},
	} {
		for _, size := range []int{len(tc.stream) + 1, 1, 3} {
			if got := hearControl(t, tc.stream, size); got != tc.want {
				t.Errorf("%s, %d bytes at a time: %s; want %s", name, size, got, tc.want)
			}
		}
	}
}

// What a server may say about the tables of QPACK, though there are none, and what it may not.
func TestInstructions(t *testing.T) {
	for name, tc := range map[string]struct {
		kind   uint64
		stream string
		want   code
	}{
		"the encoder ends":         {streamEncoder, "", codeClosedCritical},
		"the decoder ends":         {streamDecoder, "", codeClosedCritical},
		"no room in the table":     {streamEncoder, "\x20\x20", codeClosedCritical},
		"room in the table":        {streamEncoder, "\x20\x3f\xe1\x1f", codeEncoder},
		"an insert of a name":      {streamEncoder, "\xc1\x01a", codeEncoder},
		"an insert of a literal":   {streamEncoder, "\x41a\x01b", codeEncoder},
		"a duplicate":              {streamEncoder, "\x00", codeEncoder},
		"streams not read":         {streamDecoder, "\x44\x7f\x81\x01\x48", codeClosedCritical},
		"a header acknowledged":    {streamDecoder, "\x44\x84", codeDecoder},
		"entries acknowledged":     {streamDecoder, "\x01", codeDecoder},
		"behind a number":          {streamDecoder, "\x7f\x81\x01\x01", codeDecoder},
		"no entries, acknowledged": {streamDecoder, "\x00", codeDecoder},
	} {
		for _, in := range []io.Reader{strings.NewReader(tc.stream), iotest.OneByteReader(strings.NewReader(tc.stream))} {
			var v *violation
			if err := readInstructions(in, tc.kind); !errors.As(err, &v) || v.code != tc.want {
				t.Errorf("%s: %v; want %v", name, err, tc.want)
			}
		}
	}
}

// However a control stream is cut, it says the same, and little of it is kept.
func FuzzControl(f *testing.F) {
	f.Add([]byte(frame(4, "\x06\x10")+frame(7, "\x08")+frame(0x21, "xyz")+frame(7, "\x04")), uint8(1))
	f.Fuzz(func(t *testing.T, stream []byte, chunk uint8) {
		whole := hearControl(t, string(stream), len(stream)+1)
		if cut := hearControl(t, string(stream), int(chunk)+1); cut != whole {
			t.Errorf("whole: %s; cut: %s", whole, cut)
		}
	})
}
