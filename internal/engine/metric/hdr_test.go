package metric

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// claiming is an encoded histogram of that layout whose counts are so many zero bytes.
func claiming(lowest, highest int64, digits int32, payload int) string {
	return claimingLength(lowest, highest, digits, payload, int32(payload))
}

// claimingLength is claiming, with a length that need not be that of the counts.
func claimingLength(lowest, highest int64, digits int32, payload int, length int32) string {
	var b, packed bytes.Buffer
	header := []any{hdrhistogram.V2EncodingCookieBase | 0x10, length, int32(0), digits, lowest, highest, 1.0}
	for _, v := range header {
		binary.Write(&b, binary.BigEndian, v)
	}
	b.Write(make([]byte, payload))
	z := zlib.NewWriter(&packed)
	z.Write(b.Bytes())
	z.Close()
	b.Reset()
	binary.Write(&b, binary.BigEndian, hdrhistogram.V2CompressedEncodingCookieBase|0x10)
	binary.Write(&b, binary.BigEndian, int32(packed.Len()))
	b.Write(packed.Bytes())
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// allocated is how many bytes f asks for.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Some bytes of text cannot have megabytes of buckets made: a layout that is none of dyno's is
// refused before there is room for it, and of one that is there are no more counts than buckets.
func TestDecodeMakesNoRoomForLies(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"another layout":    {claiming(1, math.MaxInt64, 5, 40_000_000), "none of dyno's"},
		"too many digits":   {claiming(1, Longest, 5, 1), "none of dyno's"},
		"negative":          {claiming(1, -1, 3, 1), "none of dyno's"},
		"more than buckets": {claiming(1, Longest, Fine, 40_000_000), "too many for 33792 buckets"},
		"cut short":         {claiming(1, Longest, Fine, 1)[:40], "reading a histogram"},
		"no text":           {"", "reading a histogram"},
		"no base64":         {strings.Repeat("!", 100), "reading a histogram"},
	} {
		var err error
		used := allocated(func() { _, err = DecodeHDR(c.text) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if used > 1<<20+4*uint64(len(c.text)) {
			t.Errorf("%s: %d bytes of text had %d bytes made", name, len(c.text), used)
		}
	}
}

// Text whose parts do not belong together is refused, as hdrhistogram-go refuses it.
func TestDecodeRefusesBrokenText(t *testing.T) {
	change := func(at int, to byte) string {
		b, err := base64.StdEncoding.DecodeString(claiming(1, Longest, Fine, 3))
		if err != nil {
			t.Fatal(err)
		}
		if at < 0 {
			at += len(b)
		}
		b[at] ^= to
		return base64.StdEncoding.EncodeToString(b)
	}
	names := func(length int32) string {
		return claimingLength(1, Longest, Fine, 3, length)
	}
	for name, c := range map[string]struct{ text, want string }{
		"sum":              {change(-1, 1), "checksum"},
		"outer cookie":     {change(0, 1), "is not V2"},
		"outer length":     {change(atPackedLength+2, 1), "unexpected EOF"},
		"more than named":  {names(2), "do not take the 2 bytes"},
		"fewer than named": {names(4), "do not take the 4 bytes"},
		"negative length":  {names(-1), "too many for"},
	} {
		if _, err := DecodeHDR(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, err := hdrhistogram.Decode([]byte(c.text)); err == nil {
			t.Errorf("%s: hdrhistogram-go reads it", name)
		}
	}
}

// matchLibrary fails the test unless hdrhistogram-go reads h from the text, too.
func matchLibrary(t *testing.T, text string, h *Histogram) {
	t.Helper()
	hdr, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		t.Errorf("%q is read, but hdrhistogram-go says: %v", text, err)
		return
	}
	if !slices.Equal(h.counts, hdr.Export().Counts) {
		t.Errorf("%q: the counts differ from those that hdrhistogram-go reads", text)
	}
	// hdrhistogram-go adds its parts of the mean in floating point.
	if h.Count != hdr.TotalCount() || h.Count > 0 && (h.Min != hdr.Min() || h.Max != hdr.Max() ||
		math.Abs(h.Mean()-hdr.Mean()) > 1e-9*hdr.Mean()) {
		t.Errorf("%q: %d values from %d to %d, mean %v; hdrhistogram-go reads %d from %d to %d, mean %v",
			text, h.Count, h.Min, h.Max, h.Mean(), hdr.TotalCount(), hdr.Min(), hdr.Max(), hdr.Mean())
	}
}

// Whatever was counted is written and read as hdrhistogram-go does it: no value, the ends of the range, one
// bucket, buckets side by side and far apart.
func TestHDRMatchesLibrary(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	for round := range 200 {
		h := NewHistogram([]int{Coarse, Fine}[round%2])
		for range draw.IntN(50) {
			h.Record(draw.Int64N(1<<(1+draw.IntN(43)) - 1))
		}
		if round%5 == 0 {
			h.Record(0)
			h.Record(math.MaxInt64)
			n := []int64{1 << 54, 1 << 55, 1 << 60, 1 << 61, 1 << 62, math.MaxInt64 - 100}[draw.IntN(6)]
			h.counts[h.bucketIndex(100)], h.Count = n, h.Count+n
		}
		text := h.EncodeHDR()
		back, err := DecodeHDR(text)
		if err != nil {
			t.Fatal(err)
		}
		matchLibrary(t, text, back)
		if want, err := h.HDR().Encode(hdrhistogram.V2CompressedEncodingCookieBase); err != nil ||
			text != string(want) {
			t.Errorf("%d values are written as %q, by hdrhistogram-go as %q, %v", h.Count, text, want, err)
		}
	}
}

// A payload that is no list of counts is refused.
func TestDecodeRefusesBrokenCounts(t *testing.T) {
	count := func(n ...int64) (payload []byte) {
		for _, v := range n {
			payload = binary.AppendVarint(payload, v)
		}
		return payload
	}
	for name, c := range map[string]struct {
		payload []byte
		want    error
	}{
		"cut short":           {[]byte{0x80}, errCount},
		"no count":            {bytes.Repeat([]byte{0xff}, 8), errCount},
		"empty past the end":  {count(-33_793), errBucket},
		"empty beyond limits": {appendCount(nil, math.MinInt64), errBucket},
		"count past the end":  {count(-33_792, 1), errBucket},
		"too large a sum":     {count(1<<61, 1<<61, 1<<61, 1<<61), errTotal},
		"to the very end":     {count(-33_791, 1), nil},
	} {
		h := NewHistogram(Fine)
		if err := h.addPayload(c.payload); err != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// FuzzDecode reads what anybody can have written: what can be read is what would be written, and
// what hdrhistogram-go reads.
func FuzzDecode(f *testing.F) {
	h := NewHistogram(Coarse)
	h.Record(1234567)
	f.Add(h.EncodeHDR())
	f.Add(claiming(1, math.MaxInt64, 5, 100))
	f.Add(claiming(1, Longest, Fine, 3))
	f.Fuzz(func(t *testing.T, text string) {
		h, err := DecodeHDR(text)
		if err != nil {
			return
		}
		matchLibrary(t, text, h)
		back, err := DecodeHDR(h.EncodeHDR())
		if err != nil || back.Count != h.Count || back.Min != h.Min || back.Max != h.Max {
			t.Errorf("%q is read as %d values, and then as %+v, %v", text, h.Count, back, err)
		}
	})
}
