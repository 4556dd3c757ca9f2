package cookie

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Those of longer paths are sent first, then those of longer domains and names, then the older ones.
func TestOrder(t *testing.T) {
	for want, set := range map[string][]string{
		"b=2; a=1":              {"a=1; Path=/", "b=2; Path=/a"},
		"long=2; a=1; b=3":      {"a=1; Path=/", "long=2; Path=/", "b=3; Path=/"},
		"a=3; b=2":              {"a=1; Path=/", "b=2; Path=/", "a=3; Path=/"},
		"a=3; a=1; a=2":         {"a=1; Path=/", "a=2; Path=/; Domain=shop.test", "a=3; Path=/a/"},
		"a=1; a=2; b=3":         {"a=1; Path=/", "a=2; Path=/; Domain=www.shop.test", "b=3; Path=/"},
		"q=2; a=1; b=4; long=3": {"a=1; Path=/", "q=2; Path=\"/a\"", "long=3; Path=x; Domain=shop.test", "b=4; Path=x"},
	} {
		from := NewOrigin("http", "www.shop.test")
		var j Jar
		for _, header := range set {
			j.Set([]byte(header), &from, []byte("/a/b"), 0)
		}
		if got := string(j.Append(nil, []byte("/a/b"), &from, 0)); got != want {
			t.Errorf("%q sends %q, want %q", set, got, want)
		}
	}
}

// A cookie that has expired by the time when a request is sent is not sent, nor is it later.
func TestExpiry(t *testing.T) {
	const now = 1_700_000_000
	for set, lasts := range map[string]int64{"Max-Age=1": 1, "Max-Age=60": 60, "Expires=Tue, 14 Nov 2023 22:13:25 GMT": 5,
		"Expires=Tue, 14 Nov 2023 22:13:25 GMT; Max-Age=2": 2, "Max-Age=3; Expires=Tue, 14 Nov 2023 22:13:25 GMT": 3} {
		from := NewOrigin("http", "shop.test")
		var j Jar
		j.Set([]byte("a=1; "+set), &from, []byte("/"), now)
		for after, want := range map[int64]string{0: "a=1", lasts: "a=1"} {
			if got := string(j.Append(nil, []byte("/"), &from, now+after)); got != want {
				t.Errorf("%s, after %d s: %q", set, after, got)
			}
		}
		for range 2 {
			if got := string(j.Append(nil, []byte("/"), &from, now+lasts+1)); got != "" {
				t.Errorf("%s, after %d s: %q", set, lasts+1, got)
			}
		}
	}
}

// However many and long the cookies that a server sets, and takes away, a jar stays small. It sends
// what it still has after it has made room.
func TestBounded(t *testing.T) {
	from := NewOrigin("http", "shop.test")
	var j Jar
	for round := range 3 {
		for i := range 10_000 {
			j.Begin(0)
			j.Set(fmt.Appendf(nil, "n%d=%s; Path=/%d", i%500, strings.Repeat("x", i%4000), i%7), &from, []byte("/"), 0)
			if i%3 == 0 {
				j.Set(fmt.Appendf(nil, "n%d=; Path=/%d; Max-Age=0", i%500, i%7), &from, []byte("/"), 0)
			}
			if len(j.all) > mostCookies || j.live > mostText || cap(j.text) > 8*mostText {
				t.Fatalf("%d cookies of %d bytes in %d", len(j.all), j.live, cap(j.text))
			}
		}
		j.Reset()
		j.Set([]byte("a=1"), &from, []byte("/"), 0)
		if got := string(j.Append(nil, []byte("/"), &from, 0)); got != "a=1" {
			t.Errorf("round %d: %q", round, got)
		}
	}
}

// Dates are those that a server means, in all the forms of RFC 6265, and any text is read.
func FuzzDate(f *testing.F) {
	for _, s := range []string{epoch, "Thursday, 01-Jan-70 00:00:00 GMT", "Thu Jan  1 00:00:00 1970", "1 Feb 99999 1:2:3x", "::", "\xff"} {
		f.Add(s, int64(1_700_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		if s, ok := parseDate([]byte(text)); ok && (s < -13_000_000_000 || s > 254_000_000_000) {
			t.Errorf("%q is %d", text, s)
		}
		unix = (unix%250_000_000_000 + 250_000_000_000) % 250_000_000_000
		for _, layout := range []string{time.RFC1123, time.ANSIC, "Mon, 02-Jan-2006 15:04:05 MST", "Monday, 02-Jan-2006 15:04:05 MST",
			"Mon Jan 02 2006 15:04:05 MST", "2006 Jan 2 15:04:05"} {
			if s, ok := parseDate([]byte(time.Unix(unix, 0).UTC().Format(layout))); !ok || s != unix {
				t.Errorf("%s of %d is %d, %v", layout, unix, s, ok)
			}
		}
	})
}

// Whatever a server sets, what is sent is one line of pairs that it set.
func FuzzSet(f *testing.F) {
	for _, s := range []string{"a=1; Path=/; Secure", "__Host-a=1; path=\"/\"", "a=1; Max-Age=99999999999999999999", "=;", "a=1;expires"} {
		f.Add(s, "/a/b?c", int64(1_700_000_000))
	}
	f.Fuzz(func(t *testing.T, header, path string, now int64) {
		from := NewOrigin("https", "www.shop.test")
		var j Jar
		for range 2 {
			j.Begin(0)
			j.Set([]byte(header), &from, []byte(path), now)
		}
		got := j.Append(nil, []byte(path), &from, now)
		name, value, _ := strings.Cut(string(got), "=")
		if strings.ContainsAny(string(got), ";\r\n\x00") || !strings.Contains(header, name) || !strings.Contains(header, value) {
			t.Errorf("%q sends %q", header, got)
		}
	})
}
