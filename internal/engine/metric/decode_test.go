package metric

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// claiming is an encoded histogram of that layout whose counts are so many zero bytes.
func claiming(lowest, highest int64, digits int32, payload int) string {
	var b, packed bytes.Buffer
	header := []any{hdrhistogram.V2EncodingCookieBase | 0x10, int32(payload), int32(0), digits, lowest, highest, 1.0}
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
		"more than buckets": {claiming(1, Longest, Fine, 40_000_000), "exceeds the maximum"},
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

// FuzzDecode reads what anybody can have written: what can be read is what would be written.
func FuzzDecode(f *testing.F) {
	h := NewHistogram(Coarse)
	h.Record(1234567)
	text, err := h.EncodeHDR()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(claiming(1, math.MaxInt64, 5, 100))
	f.Add(claiming(1, Longest, Fine, 3))
	f.Fuzz(func(t *testing.T, text string) {
		h, err := DecodeHDR(text)
		if err != nil {
			return
		}
		again, err := h.EncodeHDR()
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeHDR(again)
		if err != nil || back.Count != h.Count || back.Min != h.Min || back.Max != h.Max {
			t.Errorf("%q is read as %d values, and then as %+v, %v", text, h.Count, back, err)
		}
	})
}
