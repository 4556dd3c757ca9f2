package redirect

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
)

func TestPath(t *testing.T) {
	own := []Origin{OriginOf("http", "Shop.test:80"), OriginOf("http", "www.shop.test:8080")}
	for _, tc := range []struct{ from, location, want string }{
		{"/a/b?q=1", "c", "/a/c"},
		{"/a/b?q=1", "../c?d=e", "/c?d=e"},
		{"/a/b?q=1", "?d=e", "/a/b?d=e"},
		{"/a/b", "#top", "/a/b"},
		{"/a/b", "/c#top", "/c"},
		{"/a/b", "//shop.test/c", "/c"},
		{"/a/b", "http://SHOP.test:80", "/"},
		{"/a/b", "HTTP://www.shop.test:8080/x", "/x"},
		{"/a/b", "/é x?é=<a b>", "/%C3%A9%20x?%C3%A9=%3Ca%20b%3E"},
		{"/a/b", "/%41%zz", `the redirect to "/%41%zz" is no URL`},
		{"*", "/c", "/c"},
		{"/a/b", "", `the redirect to "" leads nowhere: its Location is empty`},
		{"/a/b", "http://shop.test:8080/", `AWAY the redirect to "http://shop.test:8080/" leads to an origin that the command line does not name`},
		{"/a/b", "https://shop.test/", `AWAY the redirect to "https://shop.test/" leads to an origin that the command line does not name`},
		{"/a/b", "http://shop.test@evil/", `AWAY the redirect to "http://shop.test@evil/" leads to an origin`},
		{"/a/b", "http://shop.test.evil/", `AWAY the redirect to "http://shop.test.evil/" leads to an origin`},
		{"/a/b", "mailto:a@b", `AWAY the redirect to "mailto:a@b" leads to an origin`},
		{"/a/b", "/" + strings.Repeat("x", MaxLocation), "the redirect's Location has 8193 bytes; at most 8192 are followed"},
		{"/a/b", "/" + strings.Repeat("x", MaxLocation-1), "/" + strings.Repeat("x", MaxLocation-1)},
		{"/a/b", "/" + strings.Repeat("\xe9", 2731), "the redirect's path has 8194 bytes; at most 8192 are followed"},
		{"/a/b", "?" + strings.Repeat("\xe9", 2731), "the redirect's path has 8198 bytes; at most 8192 are followed"},
		{"/" + strings.Repeat("x", MaxLocation-2) + "/b", "cd", "the redirect's path has 8194 bytes; at most 8192 are followed"},
	} {
		got, _, fault := Path(own[0], tc.from, tc.location, own)
		if fault != nil {
			got = fault.Error()
			if fault.Away {
				got = "AWAY " + got
			}
		}
		if got != tc.want && (fault == nil || !strings.HasPrefix(got, tc.want)) {
			t.Errorf("from %s to %.80q: %.120s, want %.120s", tc.from, tc.location, got, tc.want)
		}
	}
}

// Methods and bodies change as browsers have them (the Fetch standard, HTTP-redirect fetch).
func TestMethod(t *testing.T) {
	for _, tc := range []struct {
		status uint16
		want   string // of GET, HEAD, POST and PUT; + keeps its body
	}{
		{301, "GET+ HEAD+ GET PUT+"}, {302, "GET+ HEAD+ GET PUT+"}, {303, "GET HEAD+ GET GET"},
		{307, "GET+ HEAD+ POST+ PUT+"}, {308, "GET+ HEAD+ POST+ PUT+"},
	} {
		var got []string
		for _, m := range []string{"GET", "HEAD", "POST", "PUT"} {
			next, keeps := Method(tc.status, m)
			got = append(got, next+map[bool]string{true: "+"}[keeps])
		}
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("%d: %s, want %s", tc.status, s, tc.want)
		}
		if !Is(tc.status) {
			t.Errorf("%d is no redirect", tc.status)
		}
	}
	for _, status := range []uint16{0, 200, 300, 304, 305, 306, 309, 404} {
		if Is(status) {
			t.Errorf("%d is a redirect", status)
		}
	}
}

func TestDropBody(t *testing.T) {
	r := proto.Request{Body: []byte("x"), Header: []proto.Field{{Name: "Accept", Value: "a"},
		{Name: "content-TYPE", Value: "b"}, {Name: "Content-Length", Value: "1"}, {Name: "Content-Security", Value: "c"}}}
	if DropBody(&r); r.Body != nil || fmt.Sprint(r.Header) != "[{Accept a} {Content-Security c}]" {
		t.Errorf("%q %v", r.Body, r.Header)
	}
}

// Whatever a server writes, a path that can be sent comes of it, of the same origin, or a fault.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"/a", "//h/x", "http://h/?a b", "http://h@x", "\x00", "?", "#", "%", "/%zz", "http://[::1", "é"} {
		f.Add("/a/b?c", s)
	}
	f.Add("/a/", strings.Repeat("\xe9", MaxLocation))
	f.Fuzz(func(t *testing.T, from, location string) {
		own := OriginOf("http", "h")
		path, _, fault := Path(own, from, location, []Origin{own})
		if fault != nil {
			if path != "" || fault.Problem == "" || len(fault.Problem) > 1000 {
				t.Errorf("%q %+v", path, fault)
			}
			return
		}
		if path == "" || len(path) > MaxLocation || path[0] != '/' || proto.ValueProblem(proto.InPath, []byte(path)) != "" {
			t.Errorf("%q", path)
		}
		for _, c := range []byte(path) {
			if c <= ' ' || c >= 0x7f {
				t.Errorf("%q", path)
			}
		}
		if u, err := url.Parse("http://h" + path); err != nil || u.Host != "h" {
			t.Errorf("%q: %v", path, err)
		}
	})
}
