// Package conform has what a server may say to a client of HTTP/2, by section of
// RFC 9113 and of RFC 7541 (HPACK), right and wrong, and what a client has to make
// of it. The codec is held against it alone, and whole runs against servers that
// say it. The bytes are made here, by hand, and with nothing of the codec's.
//
// The client of a Case has the server's SETTINGS, which are the protocol's own
// values, and three requests under way: a GET as exchange 0 on stream 1, a HEAD as 1
// on stream 3, and as 2 on stream 5 a POST, of whose BodySize bytes more than
// a third wait for windows. The server sends ServerBytes, and closes.
//
//	cases.go      Cases: all of them
//	conform.go    Case, and how its bytes are made
//	controls.go   cases of each type of frame (RFC 9113, section 6)
//	frames.go     what a server may say first; cases of frames and streams (sections 4 and 5)
//	messages.go   cases of responses (section 8), and of HPACK
package conform

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dyno/internal/engine/proto"
)

// A Case is the bytes of a server on such a connection, and what a client should make of them.
type Case struct {
	Section     string // of RFC 9113, or with HPACK before it of RFC 7541; "": no rule is broken
	Name        string
	ServerBytes string
	Want        string // as FormatEvents writes the client's events, and then its error code
}

// String is the case's name, suitable for a test's.
func (c Case) String() string { return strings.TrimSpace(c.Section + " " + c.Name) }

// WantedParts splits Want into the client's events and its error code.
func (c Case) WantedParts() (told, last string) {
	i := strings.LastIndex(c.Want, " ") + 1
	if slices.Contains(codes[:], c.Want[i:]) {
		return strings.TrimSpace(c.Want[:i]), c.Want[i:]
	}
	return c.Want, ""
}

// codes are HTTP/2's error codes, as RFC 9113's section 7 names them.
var codes = [...]string{"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR",
	"SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL",
	"COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY",
	"HTTP_1_1_REQUIRED"}

// GoAwayCode is the error code, by name, of the GOAWAY in the last bytes of a client, in which it
// has processed none of the server's streams; "" if there are none.
func GoAwayCode(said []byte) string {
	if len(said) == 0 {
		return ""
	}
	for code, name := range codes {
		if string(said) == goAway(0, uint32(code)) {
			return name
		}
	}
	return fmt.Sprintf("%q", said)
}

// BodySize is the length of the POST's body.
const BodySize = 100_000

// Requests are the three requests.
func Requests() []proto.Request {
	return []proto.Request{
		{Method: "GET", Authority: "x", Path: "/"},
		{Method: "HEAD", Authority: "x", Path: "/"},
		{Method: "POST", Authority: "x", Path: "/", Body: make([]byte, BodySize)},
	}
}

// FormatEvents writes events as words: "0:200" is the header of exchange 0, "0+5" its end with 5
// bytes of body, "0:refused", "0:rst-cancel" or another kind of fault its failure. "closing" is the
// end of the connection in good order. A kind of fault alone is a broken connection, with all that
// was left.
func FormatEvents(events []proto.Event) string {
	words := make([]string, len(events))
	for i, ev := range events {
		words[i] = formatEvent(ev)
	}
	return strings.Join(words, " ")
}

func formatEvent(ev proto.Event) string {
	f := new(proto.Fault)
	errors.As(ev.Err, &f)
	switch ev.Kind {
	case proto.Head:
		return fmt.Sprintf("%d:%d", ev.Tag, ev.Status)
	case proto.Done:
		return fmt.Sprintf("%d+%d", ev.Tag, ev.Body)
	case proto.Refused:
		return fmt.Sprintf("%d:refused", ev.Tag)
	case proto.Failed:
		return fmt.Sprintf("%d:%s", ev.Tag, f.Kind)
	case proto.Closing:
		return "closing"
	case proto.Broken:
		return f.Kind
	}
	return fmt.Sprintf("%+v", ev)
}

// What HTTP/2 calls its frames, flags and settings.
const (
	typeData         = 0
	typeHeaders      = 1
	typePriority     = 2
	typeReset        = 3
	typeSettings     = 4
	typePush         = 5
	typePing         = 6
	typeGoAway       = 7
	typeWindow       = 8
	typeContinuation = 9

	end         = 1
	ack         = 1
	whole       = 4 // END_HEADERS
	padded      = 8
	prioritized = 32

	tableSize     = 1
	enablePush    = 2
	maxStreams    = 3
	initialWindow = 4
	maxFrame      = 5
	maxList       = 6

	most   = 1<<31 - 1 // of windows and ids
	window = 1<<16 - 1 // what every window begins with
	frame  = 1 << 14   // what every peer takes in one frame
)

// Frame is a frame; its payload is that of the parts together.
func Frame(kind, flags byte, id uint32, payload ...string) string {
	p := strings.Join(payload, "")
	b := []byte{byte(len(p) >> 16), byte(len(p) >> 8), byte(len(p)), kind, flags}
	return string(binary.BigEndian.AppendUint32(b, id)) + p
}

// Settings is the frame of that name with these settings.
func Settings(settings ...string) string { return Frame(typeSettings, 0, 0, settings...) }

func set(which uint16, v uint32) string {
	return string(binary.BigEndian.AppendUint16(nil, which)) + u32(v)
}

func u32(v uint32) string { return string(binary.BigEndian.AppendUint32(nil, v)) }

// block is a header block of "name: value" lines: of the static table only the
// statuses of 200 and 204 are used, of the dynamic one nothing.
func block(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		i := strings.Index(line[1:], ":") + 1
		name, value := line[:i], strings.TrimPrefix(line[i+1:], " ")
		switch line {
		case ":status: 200":
			b.WriteByte(0x88)
		case ":status: 204":
			b.WriteByte(0x89)
		default: // lengths below 127 are one byte
			b.WriteString("\x00" + string([]byte{byte(len(name))}) + name)
			b.WriteString(string([]byte{byte(len(value))}) + value)
		}
	}
	return b.String()
}

const ok = "\x88" // the header block of a status of 200

// head is a response's header, and bare one that is all of the response.
func head(id uint32, lines ...string) string {
	return Frame(typeHeaders, whole, id, block(lines...))
}

func bare(id uint32, lines ...string) string {
	return Frame(typeHeaders, whole|end, id, block(lines...))
}

// ok200 is the header of one whose body follows, data the end of it and more what
// is not.
func ok200(id uint32) string { return Frame(typeHeaders, whole, id, ok) }

func data(id uint32, body string) string { return Frame(typeData, end, id, body) }

func more(id uint32, body string) string { return Frame(typeData, 0, id, body) }

// reply is a whole response with a body of 5 bytes.
func reply(id uint32) string { return head(id, ":status: 200", "a: b") + data(id, "hello") }

func reset(id, code uint32) string { return Frame(typeReset, 0, id, u32(code)) }

func update(id, n uint32) string { return Frame(typeWindow, 0, id, u32(n)) }

func goAway(last, code uint32, debug ...string) string {
	return Frame(typeGoAway, 0, 0, u32(last), u32(code), strings.Join(debug, ""))
}

// raw is a response's header of that block.
func raw(id uint32, block string) string { return Frame(typeHeaders, whole, id, block) }

// rawEnd is one that is all of the response.
func rawEnd(id uint32, block string) string { return Frame(typeHeaders, whole|end, id, block) }
