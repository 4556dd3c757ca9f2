package fairness

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
)

// What a server may make us read.
const (
	maxBody    = 16 << 20
	maxHead    = 256 << 10 // with 1xx responses before it
	maxSize    = 4 << 10   // the line before a chunk
	maxTrailer = 64 << 10
	maxInterim = 64
)

// errClosed is a connection that ended before the first byte of a response,
// which a server may do to a connection that is not new.
var errClosed = errors.New("the server closed the connection and did not answer")

// A response is one, as it came.
type response struct {
	version string
	status  int
	reason  string
	interim []int
	head    []byte // status line to empty line
	fields  []Line
	trailer []Line // not of HTTP/1
	framing Framing
	body    []byte // without transfer coding
	wire    int64  // bytes of all of it
	cut     bool   // there is more body than was read
	closes  bool   // the connection ends with it
}

// headerSize is the bytes of the header as its protocol counts them: HTTP/1's as they came, and
// without its lines the names and values.
func (r *response) headerSize() (n int64) {
	if r.head != nil {
		return int64(len(r.head))
	}
	for _, f := range r.fields {
		n += int64(f.Bytes)
	}
	return n
}

// A parser reads one response off r.
type parser struct {
	r    *bufio.Reader
	body []byte // empty: room for the response's
	bare bool   // it has no body, as the request was HEAD
	ends bool   // the request was the connection's last
	old  bool   // the request said HTTP/1.0
	wire int64  // bytes taken off r

	length         int64 // Content-Length, or -1
	coded, chunked bool  // there is a Transfer-Encoding, and its last is chunked
	close, keep    bool  // of Connection
}

// readResponse takes a whole response and nothing else off p.r.
func (p *parser) readResponse() (*response, error) {
	r := &response{}
	for {
		if err := p.readHeader(r); err != nil {
			return nil, err
		}
		switch {
		case r.status == 101:
			return nil, errors.New("it switched to another protocol (101)")
		case r.status >= 200:
			err := p.readContent(r)
			r.wire += p.wire
			return r, err
		case len(r.interim) == maxInterim:
			return nil, fmt.Errorf("more than %d interim (1xx) responses to one request", maxInterim)
		}
		*r = response{interim: append(r.interim, r.status)}
	}
}

// readHeader reads a status line and the fields below it.
func (p *parser) readHeader(r *response) error {
	if err := p.detectOther(); err != nil {
		return err
	}
	line, err := p.readHeadLine(r)
	if err != nil {
		return err
	}
	if err := r.parseStatusLine(string(line)); err != nil {
		return err
	}
	p.length, p.coded, p.chunked, p.close, p.keep = -1, false, false, false, false
	for {
		before := len(r.head)
		line, err := p.readHeadLine(r)
		if err != nil {
			return err
		}
		if len(line) == 0 {
			return nil
		}
		name, value, found := strings.Cut(string(line), ":")
		switch {
		case line[0] == ' ' || line[0] == '\t':
			return fmt.Errorf("a folded header line (it begins with a space): %s", quoteStart(line))
		case !found || name == "":
			return fmt.Errorf("not a header line: %s", quoteStart(line))
		}
		f := Line{strings.TrimRight(name, " \t"), strings.Trim(value, " \t"), len(r.head) - before}
		r.fields = append(r.fields, f)
		if err := p.parseField(f); err != nil {
			return err
		}
	}
}

// detectOther looks at the first bytes, which may be all that a server of something
// else ever sends.
func (p *parser) detectOther() error {
	const signature = "HTTP/1."
	for i := range len(signature) {
		b, err := p.r.Peek(i + 1)
		switch {
		case err != nil:
			if p.wire += int64(len(b)); p.wire == 0 {
				return closedError(err)
			}
			return p.truncatedError(err, "the header")
		case b[i] == signature[i]:
			continue
		}
		b, _ = p.r.Peek(p.r.Buffered())
		hint := ""
		switch b[0] {
		case 0x15, 0x16:
			hint = "; is this an https:// server?"
		case 0:
			hint = "; is this an HTTP/2 server?"
		}
		return fmt.Errorf("not an HTTP/1.x response: it begins with %s%s", quoteStart(b), hint)
	}
	return nil
}

// closedError is a read error before the first byte.
func closedError(err error) error {
	switch {
	case timedOut(err):
		return err
	case errors.Is(err, io.EOF):
		return errClosed
	}
	return fmt.Errorf("%w: %w", errClosed, err)
}

func timedOut(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// truncatedError is a read error inside a response.
func (p *parser) truncatedError(err error, where string) error {
	switch {
	case timedOut(err):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the connection was closed inside %s, after %d bytes", where, p.wire)
	}
	return fmt.Errorf("reading %s, after %d bytes: %w", where, p.wire, err)
}

// parseStatusLine reads a status line: HTTP/1.x, a space, three digits, and any reason.
func (r *response) parseStatusLine(line string) error {
	ok := len(line) >= 12 && isDigit(line[7]) && line[8] == ' ' &&
		'1' <= line[9] && line[9] <= '9' && isDigit(line[10]) && isDigit(line[11]) &&
		(len(line) == 12 || line[12] == ' ')
	if !ok {
		return fmt.Errorf("not a status line: %s", quoteStart([]byte(line)))
	}
	r.version = line[:8]
	r.status, _ = strconv.Atoi(line[9:12])
	r.reason = strings.TrimPrefix(line[12:], " ")
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// readHeadLine reads a line of the header and keeps it in r.head.
func (p *parser) readHeadLine(r *response) ([]byte, error) {
	line, err := p.readLine(maxHead, 0, "the header")
	r.head = append(r.head, line...)
	return trimLineEnd(line), err
}

// readLine reads a line with its end. It is part of what, which began when from bytes
// had been taken and may have limit.
func (p *parser) readLine(limit int, from int64, what string) ([]byte, error) {
	var line []byte
	for {
		part, err := p.r.ReadSlice('\n')
		p.wire += int64(len(part))
		line = append(line, part...)
		switch {
		case p.wire-from > int64(limit):
			return nil, fmt.Errorf("%s is longer than %d KiB", what, limit>>10)
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, p.truncatedError(err, what)
		}
	}
}

func trimLineEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// parseField notes what frames the message or ends the connection.
func (p *parser) parseField(f Line) error {
	switch strings.ToLower(f.Name) {
	case "content-length":
		for s := range strings.SplitSeq(f.Value, ",") {
			s = strings.Trim(s, " \t")
			n, err := strconv.ParseUint(s, 10, 63)
			switch {
			case err != nil:
				return fmt.Errorf("bad Content-Length %s", quoteStart([]byte(s)))
			case p.length >= 0 && p.length != int64(n):
				return fmt.Errorf("Content-Length is both %d and %d", p.length, n)
			}
			p.length = int64(n)
		}
	case "transfer-encoding":
		last := f.Value[strings.LastIndexByte(f.Value, ',')+1:]
		p.coded, p.chunked = true, listHas(last, "chunked")
	case "connection":
		p.close = p.close || listHas(f.Value, "close")
		p.keep = p.keep || listHas(f.Value, "keep-alive")
	}
	return nil
}

// readContent reads what follows the final header.
func (p *parser) readContent(r *response) (err error) {
	r.body = p.body
	old := r.version == "HTTP/1.0"
	r.closes = p.ends || p.close || (old || p.old) && !p.keep
	switch {
	case p.bare, r.status == 204, r.status == 304:
		r.framing = NoBody
	case p.chunked:
		r.framing, r.closes = ByChunks, r.closes || old
		err = p.readChunks(r)
	case p.coded, p.length < 0:
		r.framing, r.closes = ByClose, true
		err = p.readBody(r, math.MaxInt64)
	default:
		r.framing = ByLength
		err = p.readBody(r, p.length)
	}
	return err
}

// readBody reads n bytes of body, or up to the end if n is the largest number there
// is, and stops where there are too many.
func (p *parser) readBody(r *response, n int64) error {
	room := int64(maxBody - len(r.body))
	into := bytes.NewBuffer(r.body)
	k, err := io.CopyN(into, p.r, min(n, room))
	r.body, p.wire = into.Bytes(), p.wire+k
	switch {
	case errors.Is(err, io.EOF) && n == math.MaxInt64:
		return nil
	case err != nil:
		return p.truncatedError(err, "the body")
	case n <= room:
		return nil
	case n == math.MaxInt64:
		if _, err = p.r.Peek(1); errors.Is(err, io.EOF) {
			return nil
		}
	default:
		r.wire = n - room // what is still to come
	}
	r.cut = true
	return nil
}

func (p *parser) readChunks(r *response) error {
	for {
		line, err := p.readLine(maxSize, p.wire, "the line before a chunk")
		if err != nil {
			return err
		}
		n, err := parseChunkSize(trimLineEnd(line))
		if err != nil {
			return err
		}
		if n == 0 {
			return p.readTrailer()
		}
		if err := p.readBody(r, n); err != nil || r.cut {
			return err
		}
		if err := p.readChunkEnd(); err != nil {
			return err
		}
	}
}

// parseChunkSize reads a number in hex, with spaces and extensions behind it.
func parseChunkSize(line []byte) (int64, error) {
	i := 0
	for i < len(line) && strings.IndexByte("0123456789abcdefABCDEF", line[i]) >= 0 {
		i++
	}
	rest := bytes.TrimLeft(line[i:], " \t")
	n, err := strconv.ParseUint(string(line[:i]), 16, 63)
	if err != nil || n > 1<<56 || len(rest) > 0 && rest[0] != ';' {
		return 0, fmt.Errorf("bad chunk size %s", quoteStart(line))
	}
	return int64(n), nil
}

// readChunkEnd is the line end behind a chunk.
func (p *parser) readChunkEnd() error {
	for _, want := range "\r\n" {
		c, err := p.r.ReadByte()
		if err != nil {
			return p.truncatedError(err, "a chunked body")
		}
		p.wire++
		if c == '\n' {
			return nil
		}
		if c != byte(want) {
			break
		}
	}
	return errors.New("a chunk is longer than its size says")
}

func (p *parser) readTrailer() error {
	for from := p.wire; ; {
		line, err := p.readLine(maxTrailer, from, "the trailer")
		if err != nil || len(trimLineEnd(line)) == 0 {
			return err
		}
	}
}

// quoteStart shows the beginning of what a server sent.
func quoteStart(b []byte) string {
	if len(b) > 40 {
		return fmt.Sprintf("%q…", b[:40])
	}
	return fmt.Sprintf("%q", b)
}
