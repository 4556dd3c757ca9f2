package metric

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// EncodeHDR returns the counts in HdrHistogram's V2 compressed form, in base64: what
// hdrhistogram-go writes, which allocates a megabyte for each histogram.
func (h *Histogram) EncodeHDR() string {
	b := h.appendPayload(make([]byte, header))
	binary.BigEndian.PutUint32(b, uint32(hdrhistogram.V2EncodingCookieBase)|varints)
	binary.BigEndian.PutUint32(b[atLength:], uint32(len(b)-header))
	binary.BigEndian.PutUint32(b[atDigits:], uint32(h.digits))
	binary.BigEndian.PutUint64(b[atLowest:], 1)
	binary.BigEndian.PutUint64(b[atHighest:], Longest)
	binary.BigEndian.PutUint64(b[atRatio:], math.Float64bits(1))

	var packed bytes.Buffer
	packed.Write(make([]byte, packedHeader))
	z := deflaters.Get().(*zlib.Writer)
	z.Reset(&packed)
	z.Write(b) // to memory, where nothing can fail
	z.Close()
	z.Reset(nil)
	deflaters.Put(z)
	all := packed.Bytes()
	binary.BigEndian.PutUint32(all, uint32(hdrhistogram.V2CompressedEncodingCookieBase)|varints)
	binary.BigEndian.PutUint32(all[atPackedLength:], uint32(len(all)-packedHeader))
	return base64.StdEncoding.EncodeToString(all)
}

// deflaters are compressors that no histogram uses now. Each takes 0.8 MB.
var deflaters = sync.Pool{New: func() any {
	z, err := zlib.NewWriterLevel(nil, zlib.BestCompression)
	if err != nil {
		panic(err) // there is such a level
	}
	return z
}}

// appendPayload appends the counts as addPayload reads them, up to the last that is not 0.
func (h *Histogram) appendPayload(to []byte) []byte {
	counts, last := h.allCounts(), 0
	if h.Count > 0 {
		last = h.bucketIndex(h.Max)
	}
	counts = counts[:last+1]
	for len(counts) > 0 {
		empty := 0
		for empty < len(counts) && counts[empty] == 0 {
			empty++
		}
		if empty > 1 {
			to, counts = appendCount(to, int64(-empty)), counts[empty:]
		} else {
			to, counts = appendCount(to, counts[0]), counts[1:]
		}
	}
	return to
}

// longestCount is how many bytes a count takes at most.
const longestCount = 9

// appendCount appends n as a zigzag varint. If it has a ninth byte, that has eight bits of n, and
// is the last.
func appendCount(to []byte, n int64) []byte {
	end := len(to) + longestCount
	to = binary.AppendVarint(to, n)
	return to[:min(len(to), end)]
}

// readCount returns what appendCount has written, and its length; 0 if it is cut short.
func readCount(payload []byte) (n int64, used int) {
	if n, used = binary.Varint(payload); used > 0 && used <= longestCount {
		return n, used
	}
	if len(payload) < longestCount {
		return 0, 0
	}
	var whole [longestCount + 1]byte
	copy(whole[:], payload[:longestCount])
	whole[longestCount] = 1 // the eighth bit of the ninth byte, where a varint goes on
	n, _ = binary.Varint(whole[:])
	return n, longestCount
}

// DecodeHDR reads what EncodeHDR wrote. The counts are those that were written. Min, Max and Sum
// are not part of the format; they are computed from the buckets. Text of another layout is an
// error before any buckets are allocated, because a few bytes can claim millions of them.
//
// hdrhistogram-go gives out counts only as a copy of all buckets, and walks through them once each
// for Min, Max and Sum. Here only the buckets that the text has are walked through.
func DecodeHDR(text string) (*Histogram, error) {
	h, err := decodeHDR(text)
	if err != nil {
		return nil, fmt.Errorf("reading a histogram: %w", err)
	}
	return h, nil
}

// Restore is the histogram of count values that EncodeHDR wrote, whose least and greatest value and
// mean are in a unit of so many of what the histogram counts. An error means that dyno cannot have
// written it.
func Restore(text string, count int64, least, greatest, mean, unit float64) (*Histogram, error) {
	h, err := DecodeHDR(text)
	if err != nil {
		return nil, err
	}
	if h.Count != count {
		return nil, fmt.Errorf("it has %d values, not the %d that it should", h.Count, count)
	}
	whole := func(v float64) int64 { return int64(math.Round(v * unit)) }
	return h, h.SetExactValues(whole(least), whole(greatest), math.Round(mean*unit))
}

func decodeHDR(text string) (*Histogram, error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	contents, err := cutPackedHeader(packed)
	if err != nil {
		return nil, err
	}
	z, err := zlib.NewReader(bytes.NewReader(contents))
	if err != nil {
		return nil, err
	}
	var b [header]byte
	if _, err := io.ReadFull(z, b[:]); err != nil {
		return nil, err
	}
	digits, length, err := readHeader(b)
	if err != nil {
		return nil, err
	}
	// The limit is one byte above length, so that a longer payload is noticed, and that one of the
	// right length is read to its end, where zlib checks the sum.
	payload, err := io.ReadAll(io.LimitReader(z, int64(length)+1))
	if err != nil {
		return nil, err
	}
	if len(payload) != length {
		return nil, fmt.Errorf("its counts do not take the %d bytes that it names", length)
	}
	h := NewHistogram(digits)
	if err := h.addPayload(payload); err != nil {
		return nil, err
	}
	return h, nil
}

// Sizes of the header of a V2 histogram, before and after it is inflated, and the offsets of the
// fields that dyno reads or writes. All numbers are big-endian.
const (
	packedHeader   = 8
	atPackedLength = 4

	header    = 40
	atLength  = 4
	atDigits  = 12
	atLowest  = 16
	atHighest = 24
	atRatio   = 32 // of values to those that were counted
)

// Bits of a cookie: wordSize are those that V0 and V1 use for the size of a count. V2 has varints,
// and sets only the lowest of them.
const (
	wordSize = 0xf0
	varints  = 0x10
)

// cutPackedHeader returns what is compressed.
func cutPackedHeader(packed []byte) ([]byte, error) {
	if len(packed) < packedHeader {
		return nil, io.ErrUnexpectedEOF
	}
	cookie := binary.BigEndian.Uint32(packed) &^ wordSize
	length := binary.BigEndian.Uint32(packed[atPackedLength:])
	contents := packed[packedHeader:]
	if cookie != uint32(hdrhistogram.V2CompressedEncodingCookieBase) {
		return nil, fmt.Errorf("its encoding %#x is not V2", cookie)
	}
	if uint64(length) > uint64(len(contents)) {
		return nil, io.ErrUnexpectedEOF
	}
	return contents[:length], nil
}

// readHeader returns the digits of the histogram and how many bytes its counts take. A layout that
// dyno does not use is an error, and so are more bytes than a count in each bucket can take.
func readHeader(b [header]byte) (digits, length int, err error) {
	digits = int(int32(binary.BigEndian.Uint32(b[atDigits:])))
	lowest := int64(binary.BigEndian.Uint64(b[atLowest:]))
	highest := int64(binary.BigEndian.Uint64(b[atHighest:]))
	if lowest != 1 || highest != Longest || digits != Coarse && digits != Fine {
		return 0, 0, fmt.Errorf("one of %d to %d with %d digits is none of dyno's", lowest,
			highest, digits)
	}
	if cookie := binary.BigEndian.Uint32(b[:]) &^ wordSize; cookie !=
		uint32(hdrhistogram.V2EncodingCookieBase) {
		return 0, 0, fmt.Errorf("its encoding %#x is not V2", cookie)
	}
	length = int(int32(binary.BigEndian.Uint32(b[atLength:])))
	if _, buckets := bucketLayout(digits); length < 0 || length > longestCount*buckets {
		return 0, 0, fmt.Errorf("%d bytes of counts are too many for %d buckets",
			length, buckets)
	}
	return digits, length, nil
}

// Faults of counts.
var (
	errCount  = errors.New("its last count is cut short")
	errBucket = errors.New("it has more counts than buckets")
	errTotal  = errors.New("its counts have too large a sum")
)

// addPayload fills h, which is empty, with the counts of an encoded histogram. These are zigzag
// varints in the order of the buckets. A negative one stands for as many empty buckets.
func (h *Histogram) addPayload(payload []byte) error {
	for bucket := 0; len(payload) > 0; {
		n, used := readCount(payload)
		if used == 0 {
			return errCount
		}
		payload = payload[used:]
		if n < 0 {
			if n < int64(bucket-len(h.counts)) {
				return errBucket
			}
			bucket -= int(n)
			continue
		}
		if bucket == len(h.counts) {
			return errBucket
		}
		if n > math.MaxInt64-h.Count {
			return errTotal
		}
		if n > 0 {
			h.addBucket(bucket, n)
		}
		bucket++
	}
	return nil
}

// addBucket counts n values in the middle of a bucket. Buckets come in ascending order.
func (h *Histogram) addBucket(bucket int, n int64) {
	least, greatest := bucketValues(bucket, h.half)
	if h.Count == 0 {
		h.Min = least
	}
	h.Max = greatest
	h.Count += n
	h.Sum = h.Sum.Plus(multiply(least+(greatest-least+1)/2, n))
	h.counts[bucket] = n
}
