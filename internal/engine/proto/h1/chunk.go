package h1

import "dyno/internal/engine/proto"

// How many bytes of a chunked body's framing a peer may send.
const (
	maxSize    = 4 << 10 // the line before a chunk
	maxTrailer = 64 << 10
)

// A part of a chunked body.
type part uint8

const (
	inSize    part = iota // the line that says how long the chunk is
	inChunk               // left bytes of it
	inGap                 // the line end after it
	inTrailer             // fields after the last chunk, until an empty line
)

func (c *codec) decodeChunks(b []byte, eof bool) (n int, ev proto.Event) {
	for {
		var k int
		var f *proto.Fault
		switch c.part {
		case inSize:
			k, f = c.parseChunkSize(b[n:])
		case inChunk:
			k = int(min(int64(len(b)-n), c.left))
			if c.sink != nil {
				c.giveBody(c.got-c.left, b[n:n+k])
			}
			if c.left -= int64(k); c.left == 0 {
				c.part = inGap
			}
		case inGap:
			k, f = c.chunkGap(b[n:])
		case inTrailer:
			var line []byte
			if line, k = c.nextLine(b[n:]); k > 0 && len(line) == 0 && c.size <= maxTrailer {
				c.size = 0
				return n + k, c.doneEvent()
			}
			if k > 0 && c.sink != nil && c.size <= maxTrailer {
				c.giveField(line, true)
			}
			f = c.checkLimit(b[n:], k, maxTrailer, "trailer")
		}
		if f != nil {
			return n, c.brokenEvent(f)
		}
		if n += k; k == 0 {
			return n, c.needMore(eof)
		}
	}
}

// parseChunkSize parses the line before a chunk: its size in hex, and extensions.
func (c *codec) parseChunkSize(b []byte) (int, *proto.Fault) {
	line, n := c.nextLine(b)
	if n == 0 && len(b) > 0 && !isHex(b[0]) { // its line may never end
		return 0, badChunkSize(b)
	}
	if f := c.checkLimit(b, n, maxSize, "line before a chunk"); f != nil || n == 0 {
		return 0, f
	}
	c.size = 0
	size, ok := parseHex(line)
	if !ok {
		return 0, badChunkSize(line)
	}
	c.part, c.left, c.got = inChunk, size, c.got+size
	if size == 0 {
		c.part = inTrailer
	}
	return n, nil
}

func badChunkSize(b []byte) *proto.Fault {
	return newFault(proto.FaultFraming, "bad chunk size %q", b[:min(len(b), 40)])
}

func isHex(x byte) bool { return '0' <= x && x <= '9' || 'a' <= x|0x20 && x|0x20 <= 'f' }

// checkLimit fails if what size counts is too long. n bytes of b are counted already.
func (c *codec) checkLimit(b []byte, n, limit int, what string) *proto.Fault {
	total := c.size
	if n == 0 {
		total += len(b)
	}
	if total <= limit {
		return nil
	}
	return newFault(proto.FaultOversized, "the %s is longer than %d KiB", what, limit>>10)
}

func (c *codec) chunkGap(b []byte) (n int, f *proto.Fault) {
	switch {
	case len(b) == 0, len(b) == 1 && b[0] == '\r':
		return 0, nil
	case b[0] == '\n':
		n = 1
	case b[0] == '\r' && b[1] == '\n':
		n = 2
	default:
		return 0, newFault(proto.FaultFraming, "a chunk is longer than its size says")
	}
	c.part = inSize
	return n, nil
}

// parseHex parses a chunk's size, and ignores spaces and extensions after it.
func parseHex(b []byte) (v int64, ok bool) {
	for i, x := range b {
		switch {
		case '0' <= x && x <= '9':
			x -= '0'
		case 'a' <= x|0x20 && x|0x20 <= 'f':
			x = x | 0x20 - 'a' + 10
		default:
			b = trimBlanks(b[i:])
			return v, ok && (len(b) == 0 || b[0] == ';')
		}
		if v = v<<4 | int64(x); v > 1<<56 {
			return 0, false
		}
		ok = true
	}
	return v, ok
}
