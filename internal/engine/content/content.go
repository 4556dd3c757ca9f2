// Package content decodes bodies that have a Content-Encoding, so that checks see what the server
// means and not how it was packed. What it returns is limited, however much a body unpacks to.
package content

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// Limits of what decoding takes: codings of one body, and the window of zstd in bytes, which RFC
// 9659 allows for HTTP.
const (
	codingsMost = 4
	zstdWindow  = 8 << 20

	// innerMost is how many times as long as what is wanted a body may be below its outermost coding:
	// codings of nothing but empty blocks would multiply, and take for ever.
	innerMost = 16
)

// A Decoder decodes the bodies of one worker, one after the other. The zero value works.
type Decoder struct {
	in    bytes.Reader
	out   bytes.Buffer
	gzips [codingsMost]*gzip.Reader
	brs   [codingsMost]*brotli.Reader
	zstds [codingsMost]*zstd.Decoder
}

// Codings are those that are known.
var Codings = []string{"gzip", "br", "zstd", "deflate"}

// Knows reports whether all codings of a Content-Encoding are known: gzip, deflate, br, zstd and
// identity.
func Knows(encoding []byte) bool {
	all := codings(encoding)
	for _, c := range all {
		if c != "x-gzip" && !slices.Contains(Codings, c) {
			return false
		}
	}
	return len(all) <= codingsMost
}

// codings are those of a Content-Encoding, in the order in which they were applied.
func codings(encoding []byte) (all []string) {
	for c := range strings.SplitSeq(string(encoding), ",") {
		if c = strings.ToLower(strings.TrimSpace(c)); c != "" && c != "identity" {
			all = append(all, c)
		}
	}
	return all
}

// Decode returns at most so many bytes of what a body stands for, with an encoding that Knows; they
// are valid until the next call. more says that there are more. Of a body that is cut, whole is
// false, and its end is no error.
func (d *Decoder) Decode(encoding, body []byte, whole bool, most int64) (decoded []byte, more bool,
	err error) {
	d.in.Reset(body)
	var from io.Reader = &d.in
	all := codings(encoding)
	for i := len(all) - 1; i >= 0 && err == nil; i-- {
		if from, err = d.reader(i, all[i], from); i > 0 {
			from = io.LimitReader(from, innerMost*(most+1))
		}
	}
	d.out.Reset()
	if err == nil {
		_, err = d.out.ReadFrom(io.LimitReader(from, most+1))
	}
	decoded = d.out.Bytes()
	if more = int64(len(decoded)) > most; more {
		decoded, err = decoded[:most], nil
	}
	if !whole && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) {
		more, err = true, nil
	}
	return decoded, more, err
}

// reader returns what undoes coding i of a body.
func (d *Decoder) reader(i int, coding string, from io.Reader) (_ io.Reader, err error) {
	switch coding {
	case "br":
		if d.brs[i] == nil {
			d.brs[i] = brotli.NewReader(from)
			return d.brs[i], nil
		}
		return d.brs[i], d.brs[i].Reset(from)
	case "deflate":
		return inflater(from)
	case "zstd":
		if d.zstds[i] == nil {
			d.zstds[i], err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
				zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
			if err != nil {
				return nil, err
			}
		}
		return d.zstds[i], d.zstds[i].Reset(from)
	}
	if d.gzips[i] == nil {
		d.gzips[i], err = gzip.NewReader(from)
		return d.gzips[i], err
	}
	return d.gzips[i], d.gzips[i].Reset(from)
}

// inflater undoes deflate: in the format of zlib or, as some servers send it, without its header.
func inflater(from io.Reader) (io.Reader, error) {
	b := bufio.NewReader(from)
	head, err := b.Peek(2)
	if err != nil {
		return nil, err
	}
	const deflated = 8 // the method, in the low half of the first byte
	if head[0]&0xf != deflated || (int(head[0])<<8|int(head[1]))%31 != 0 {
		return flate.NewReader(b), nil
	}
	return zlib.NewReader(b)
}
