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

// EncodeHDR returns the counts in HdrHistogram's V2 compressed form, in base64. It is what
// hdrhistogram-go writes, without a megabyte of memory for each histogram.
func (h *Histogram) EncodeHDR() string {
	payload := h.appendPayload(nil)
	b := make([]byte, header, header+len(payload))
	binary.BigEndian.PutUint32(b, uint32(hdrhistogram.V2EncodingCookieBase)|plainWords)
	binary.BigEndian.PutUint32(b[atLength:], uint32(len(payload)))
	binary.BigEndian.PutUint32(b[atDigits:], uint32(h.digits))
	binary.BigEndian.PutUint64(b[atLowest:], 1)
	binary.BigEndian.PutUint64(b[atHighest:], Longest)
	binary.BigEndian.PutUint64(b[atRatio:], math.Float64bits(1))

	var packed bytes.Buffer
	packed.Write(make([]byte, packedHeader))
	z := deflaters.Get().(*zlib.Writer)
	z.Reset(&packed)
	z.Write(append(b, payload...)) // to memory, where nothing can fail
	z.Close()
	deflaters.Put(z)
	all := packed.Bytes()
	binary.BigEndian.PutUint32(all, uint32(hdrhistogram.V2CompressedEncodingCookieBase)|plainWords)
	binary.BigEndian.PutUint32(all[atPackedLength:], uint32(len(all)-packedHeader))
	return base64.StdEncoding.EncodeToString(all)
}

// deflaters are compressors between two histograms: each takes 0.8 MB.
var deflaters = sync.Pool{New: func() any {
	z, err := zlib.NewWriterLevel(nil, zlib.BestCompression)
	if err != nil {
		panic(err) // there is such a level
	}
	return z
}}

// appendPayload appends the counts as addPayload reads them, up to the last that is not 0.
func (h *Histogram) appendPayload(to []byte) []byte {
	counts := h.counts[:1]
	if h.Count > 0 {
		counts = h.counts[:h.bucketIndex(h.Max)+1]
	}
	for len(counts) > 0 {
		empty := 0
		for empty < len(counts) && counts[empty] == 0 {
			empty++
		}
		if empty > 1 {
			to, counts = binary.AppendVarint(to, int64(-empty)), counts[empty:]
		} else {
			to, counts = binary.AppendVarint(to, counts[0]), counts[1:]
		}
	}
	return to
}

// DecodeHDR reads what EncodeHDR wrote. The counts are those that were written. Min, Max and Sum
// are not part of the format; they are computed from the buckets. Text of another layout is an
// error before any buckets are allocated, because a few bytes can claim millions of them.
//
// hdrhistogram-go gives out counts only as a copy of all buckets, and walks through them once each
// for Min, Max and Sum. Here the buckets are those of the text, and the others are not touched.
func DecodeHDR(text string) (*Histogram, error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("reading a histogram: %w", err)
	}
	contents, err := cutPackedHeader(packed)
	if err != nil {
		return nil, fmt.Errorf("reading a histogram: %w", err)
	}
	z, err := zlib.NewReader(bytes.NewReader(contents))
	if err != nil {
		return nil, fmt.Errorf("reading a histogram: %w", err)
	}
	var b [header]byte
	if _, err := io.ReadFull(z, b[:]); err != nil {
		return nil, fmt.Errorf("reading a histogram: %w", err)
	}
	digits, length, err := readHeader(b)
	if err != nil {
		return nil, err
	}
	// One byte more would be one too many. Its end has zlib check its sum.
	payload, err := io.ReadAll(io.LimitReader(z, int64(length)+1))
	if err != nil {
		return nil, fmt.Errorf("reading a histogram: %w", err)
	}
	if len(payload) != length {
		return nil, fmt.Errorf("reading a histogram: its counts take %d bytes, not the %d that it names",
			len(payload), length)
	}
	h := NewHistogram(digits)
	return h, h.addPayload(payload)
}

// Sizes of the header of a V2 histogram, before and after it is inflated, and the offsets of the
// fields that dyno reads. All numbers are big-endian.
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

// wordSize is a bit field of a cookie that says how format V1 wrote a count; V2 writes plainWords.
const (
	wordSize   = 0xf0
	plainWords = 0x10
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

// longestCount is how many bytes a count takes at most.
const longestCount = 9

// readHeader returns the digits of the histogram and how many bytes its counts take. A layout that
// dyno does not use is an error, and so are more counts than buckets.
func readHeader(b [header]byte) (digits, length int, err error) {
	digits = int(int32(binary.BigEndian.Uint32(b[atDigits:])))
	lowest := int64(binary.BigEndian.Uint64(b[atLowest:]))
	highest := int64(binary.BigEndian.Uint64(b[atHighest:]))
	if lowest != 1 || highest != Longest || digits != Coarse && digits != Fine {
		return 0, 0, fmt.Errorf("a histogram of %d to %d with %d digits is none of dyno's", lowest,
			highest, digits)
	}
	if cookie := binary.BigEndian.Uint32(b[:]) &^ wordSize; cookie !=
		uint32(hdrhistogram.V2EncodingCookieBase) {
		return 0, 0, fmt.Errorf("reading a histogram: its encoding %#x is not V2", cookie)
	}
	length = int(int32(binary.BigEndian.Uint32(b[atLength:])))
	if _, buckets := bucketLayout(digits); length < 0 || length > longestCount*buckets {
		return 0, 0, fmt.Errorf("reading a histogram: %d bytes of counts are too many for %d buckets",
			length, buckets)
	}
	return digits, length, nil
}

// Faults of counts.
var (
	errCount  = errors.New("reading a histogram: its counts are broken")
	errBucket = errors.New("reading a histogram: it has more counts than buckets")
	errTotal  = errors.New("reading a histogram: its counts have too large a sum")
)

// addPayload fills h, which is empty, with the counts of an encoded histogram. These are zigzag
// varints in the order of the buckets. A negative one stands for as many empty buckets. (The format
// gives the ninth byte of a count eight bits, a varint seven; a count needs them from 2⁶² on.)
func (h *Histogram) addPayload(payload []byte) error {
	for bucket := 0; len(payload) > 0; {
		n, used := binary.Varint(payload)
		if used <= 0 || used > longestCount {
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
