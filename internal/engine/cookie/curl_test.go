package cookie

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A visit is what a server sets in turn, each in a response of its own to /a/b/c?q=/x/y, or several
// in one, line by line. Then what is sent to some paths is seen.
type visit struct {
	origin string // "": a host of its own
	set    []string
}

var seen = []string{"/", "/a", "/a/b/d?e", "/a/b/c/e", "/a/bc", "/A/x"}

const epoch = "Thu, 01 Jan 1970 00:00:00 GMT"

func visits() (all []visit) {
	one := func(set ...string) { all = append(all, visit{set: set}) }
	for _, form := range []string{epoch, "Thu, 1 Jan 1970 00:00:00 GMT", "Thursday, 01-Jan-1970 00:00:00 GMT",
		"Thu Jan 01 1970 00:00:00 GMT", "Thu Jan  1 00:00:00 1970", "Thursday, 01-Jan-70 00:00:00 GMT",
		"Thu, 01-Jan-1970 00:00:00 GMT", "01 jan 1970 0:0:0", "Jan 1 1970 00:00:00", "1 January 1970 00:00:00",
		"00:00:00 1 Jan 1970", "1970 Jan 1 00:00:00", "Thu, 01 Jan 1970", "Thu,01 Jan 1970 00:00:00 UTC",
		"Mon, 31 Dec 2001 23:59:59 GMT", "Mon, 31-Dec-01 23:59:59 GMT", "Mon, 31 Dec 99 23:59:59 GMT",
		"Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 01 Jan 2100 00:00:00 GMT", "Fri, 31-Dec-68 23:59:59 GMT",
		"Thu, 30 Feb 1995 00:00:00 GMT", "Thu, 01 Foo 1970 00:00:00 GMT", "Thu, 01 Jan 1970 25:00:00 GMT",
		"Thu, 01 Jan 1970 00:60:00 GMT", "", "0", "-1", "never", "1970-01-01T00:00:00Z", `"` + epoch + `"`,
		"Thu, 01 Jan 1500 00:00:00 GMT", "Thu, 32 Jan 1970 00:00:00 GMT", "Tue, 19 Jan 2038 03:14:08 GMT"} {
		one("a=1; Path=/", "a=2; Path=/; Expires="+form)
	}
	for _, age := range []string{"0", "-1", "1000", "x", "12x", "", " 5", `"5"`, `"0"`, "+5", "99999999999999999999", "9223372036854775807",
		"-99999999999999999999", "1.5", "0x10"} {
		one("a=1; Path=/", "a=2; Path=/; Max-Age="+age)
		one("a=2; Path=/; Max-Age=" + age + "; Expires=" + epoch)
		one("a=2; Path=/; Expires=" + epoch + "; Max-Age=" + age)
		one("a=2; Path=/; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Max-Age=" + age)
	}
	one("a=2; Path=/; Max-Age; Expires=" + epoch)
	one("a=2; Path=/; Expires=never; Expires=" + epoch)
	one("a=2; Path=/; Expires=" + epoch + "; Expires=never")
	one("a=2; Path=/; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Expires=" + epoch)
	one("a=2; Path=/; Max-Age=0; Max-Age=9")
	one("a=2; Path=/; Max-Age=9; Max-Age=0")
	for _, path := range []string{"", "/", "/a", "/a/", "/a/b", "/a/b/", "x", `"/a"`, "/A", "/a/b/c", "//", "/a?x"} {
		one("a=1; Path=" + path)
		one("b=1; Path=/", "a=1; path="+path, "b=2; Path=/a/")
	}
	one("a=1")
	one("a=1; Path")
	one("a=1; Path=/; Path=/x")
	one("a=1; Path=/a", "a=2; Path=/A", "a=3; Path=/a/")
	for _, domain := range []string{"", ".", "NAME.test", ".NAME.test", "NAME.TEST", "other.test", "AME.test", "..NAME.test",
		"www.NAME.test", ".www.NAME.test", "x.www.NAME.test", "127.0.0.1", "test"} {
		one("a=1; Path=/; Domain=" + domain)
		one("a=1; Path=/", "a=2; Path=/; Domain="+domain, "a=3; Path=/; Domain="+domain)
	}
	for _, text := range []string{"a", "=1", "", ";a=1", " a = x=y ", "a=", "a=\"q\"", "a b=c d", "a=x\ty", "a\tb=1", "é=ü", "a=1,b=2",
		"a=1;secure;x=", "a=1; secure=", "a=1; Secure=x", "a=1; httponly", "a=1;;;path=/", "a=\x01", "a=\x7f", "a=1; version=1"} {
		one(text)
	}
	one("a=1", "b=2", "a=3")
	one("b=1; Path=/", "a=2; Path=/", "c=3; Path=/", "long=4; Path=/", "b=5; Path=/")
	for _, n := range []int{4000, 4093, 4094, 4095, 4096, 4997, 4998} {
		one("a=" + strings.Repeat("x", n))
	}
	one("a="+strings.Repeat("x", 2047), strings.Repeat("y", 2049)+"=1")
	one("a=" + strings.Repeat("x", 3000) + "; Comment=" + strings.Repeat("y", 1900))
	one("a=" + strings.Repeat("x", 3000) + "; Comment=" + strings.Repeat("y", 2100))
	one("a="+strings.Repeat("x", 4000), "bb="+strings.Repeat("y", 4000), "ccc="+strings.Repeat("z", 40))
	one("a="+strings.Repeat("x", 4000), "bb="+strings.Repeat("y", 4000), "ccc="+strings.Repeat("z", 1000))
	for _, origin := range []string{"http://www.NAME.test", "https://www.NAME.test", "http://localhost", "http://127.0.0.1",
		"http://127.0.0.2", "http://[::1]", "https://127.0.0.1", "http://LOCALHOST", "http://x.localhost"} {
		for _, text := range []string{"a=1; Secure", "__Secure-a=1", "__Secure-a=1; Secure", "__Host-a=1; Path=/", "__Host-a=1; Secure",
			"__Host-a=1; Path=/; Secure", "__host-a=1; Path=/x; Secure", "__SECURE-a=1", "__Host-a=1; Path=/; Secure; Domain=HOST",
			"a=1; Domain=HOST", "a=1; Domain=.HOST", "a=1; Domain=127.0.0", "a=1; Domain=localhost", "a=1"} {
			all = append(all, visit{origin: origin, set: []string{text}})
		}
	}
	var many []string
	for i := range 60 {
		many = append(many, fmt.Sprintf("n%d=1; Path=/", i))
	}
	one(strings.Join(many, "\n"))
	var four []string
	for i := range 4 {
		one := ""
		for k := range 45 {
			one += fmt.Sprintf("n%03d=1; Path=/\n", 45*i+k)
		}
		four = append(four, strings.TrimSpace(one))
	}
	one(four...)
	for i := range all {
		if v := &all[i]; v.origin == "" {
			v.origin = "http://www.NAME.test"
		}
		name := fmt.Sprintf("v%d", i)
		all[i].origin = strings.ReplaceAll(all[i].origin, "NAME", name)
		_, host, _ := strings.Cut(all[i].origin, "://")
		for k, text := range all[i].set {
			text = strings.ReplaceAll(text, "HOST", strings.Trim(host, "[]"))
			all[i].set[k] = strings.ReplaceAll(text, "NAME", name)
		}
	}
	return all
}

// A pantry is a server that sets what the visit to a host says, and notes what it is sent then.
type pantry struct {
	mu     sync.Mutex
	visits map[string]*visit // by the host
	asked  map[string]int
	sent   map[string][]string
}

func (p *pantry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	host := strings.ToLower(r.Host)
	n, v := p.asked[host], p.visits[host]
	p.asked[host]++
	if n >= len(v.set) {
		p.sent[host] = append(p.sent[host], strings.Join(r.Header["Cookie"], " AND "))
		return
	}
	for header := range strings.SplitSeq(v.set[n], "\n") {
		w.Header().Add("Set-Cookie", header)
	}
}

// take forgets what is known of a host, and returns what was sent to it.
func (p *pantry) take(host string, v *visit) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := p.sent[host]
	p.visits[host], p.asked[host], p.sent[host] = v, 0, nil
	return sent
}

// Cookies are kept and sent as the installed curl does it.
func TestAsCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed; Debian's package is curl (see e2e/install.sh)")
	}
	p := &pantry{visits: map[string]*visit{}, asked: map[string]int{}, sent: map[string][]string{}}
	plain, secure := httptest.NewServer(p), httptest.NewTLSServer(p)
	defer plain.Close()
	defer secure.Close()
	all := visits()
	var together []string // of visits that have a host of their own
	for i := range all {
		if v := &all[i]; strings.HasPrefix(v.origin, "http://www") {
			p.take(strings.TrimPrefix(v.origin, "http://"), v)
			together = append(together, v.urls()...)
		}
	}
	curl(t, plain.Listener.Addr().String(), together)
	for i := range all {
		v := &all[i]
		_, host, _ := strings.Cut(v.origin, "://")
		host = strings.ToLower(host)
		if !strings.HasPrefix(v.origin, "http://www") {
			p.take(host, v)
			at := plain
			if strings.HasPrefix(v.origin, "https") {
				at = secure
			}
			curl(t, at.Listener.Addr().String(), v.urls())
		}
		want, got := p.take(host, v), v.ours()
		if !slices.EqualFunc(got, want, samePairs) || len(want) != len(seen) {
			t.Errorf("%s sets %.80q:\nsent %.60q\ncurl %.60q", v.origin, v.set, got, want)
		}
	}
	t.Log(len(all), "visits")
}

// samePairs reports whether two lines have the same pairs. Their order is that of TestOrder.
func samePairs(a, b string) bool {
	x, y := strings.Split(a, "; "), strings.Split(b, "; ")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// urls are what a client asks for in turn.
func (v *visit) urls() (all []string) {
	for range v.set {
		all = append(all, v.origin+"/a/b/c?q=/x/y")
	}
	for _, path := range seen {
		all = append(all, v.origin+path)
	}
	return all
}

// ours is what a jar sends.
func (v *visit) ours() (all []string) {
	scheme, host, _ := strings.Cut(v.origin, "://")
	from := NewOrigin(scheme, host)
	var j Jar
	for _, headers := range v.set {
		j.Begin(0)
		for header := range strings.SplitSeq(headers, "\n") {
			j.Set([]byte(strings.TrimSpace(header)), &from, []byte("/a/b/c?q=/x/y"), time.Now().Unix())
		}
	}
	for _, path := range seen {
		all = append(all, string(j.Append(nil, []byte(path), &from, time.Now().Unix())))
	}
	return all
}

// curl asks for URLs in turn, with a jar that is empty at first.
func curl(t *testing.T, at string, urls []string) {
	t.Helper()
	c := exec.Command("curl", "--silent", "--show-error", "--noproxy", "*", "--insecure", "--http1.1", "--globoff",
		"--cookie", "/dev/null", "--connect-to", "::"+at, "--config", "-")
	var text strings.Builder
	for _, u := range urls {
		fmt.Fprintf(&text, "url = %q\noutput = /dev/null\n", u)
	}
	c.Stdin = strings.NewReader(text.String())
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("curl: %v\n%s", err, out)
	}
}
