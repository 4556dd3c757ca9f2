package auth_test

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/proto"
)

// A guard is a server that lets in who says rightly who it is, and counts.
type guard struct {
	mu                  sync.Mutex
	right, asked, wrong int
	why                 []string
	nonces              map[string]int // the last count of each
	algorithm           string
	most                int  // requests of a nonce, then it is stale; 0: any number
	together            bool // all challenges are in one field, the weakest first
}

const user, password = "alice", `p:w"1`

func sum(h hash.Hash, s string) string { io.WriteString(h, s); return hex.EncodeToString(h.Sum(nil)) }

// digest checks an answer to a challenge as RFC 7616 has it, each nonce with counts that rise by one.
func (g *guard) digest(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	stale := false
	if said, is := strings.CutPrefix(r.Header.Get("Authorization"), "Digest "); is {
		f := map[string]string{}
		for _, part := range splitOutside(said) {
			k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
			if strings.HasPrefix(v, `"`) {
				v = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(v[1 : len(v)-1])
			}
			f[k] = v
		}
		h := func(s string) string {
			if g.algorithm == "SHA-256" {
				return sum(sha256.New(), s)
			}
			return sum(md5.New(), s)
		}
		want := h(h(user+":r \"1\":"+password) + ":" + f["nonce"] + ":" + f["nc"] + ":" + f["cnonce"] + ":auth:" +
			h(r.Method+":"+r.URL.RequestURI()))
		n, _ := strconv.ParseInt(f["nc"], 16, 32)
		last, known := g.nonces[f["nonce"]]
		switch {
		case f["response"] != want || f["uri"] != r.URL.RequestURI() || f["username"] != user || f["qop"] != "auth" || f["opaque"] != "o,1":
			g.wrong++
			g.why = append(g.why, fmt.Sprintf("%s: want response %s", said, want))
		case !known || int(n) != last+1:
			g.wrong++
			g.why = append(g.why, fmt.Sprintf("%s: count %d after %d (known %v)", said, n, last, known))
		case g.most > 0 && last == g.most:
			stale = true
		default:
			g.nonces[f["nonce"]]++
			g.right++
			fmt.Fprintf(w, "%s %s", r.Method, r.URL.RequestURI())
			return
		}
	}
	g.asked++
	nonce := fmt.Sprintf("n%d/=", g.asked)
	g.nonces[nonce] = 0
	asks := fmt.Sprintf(`Digest realm="r \"1\"", nonce="%s", opaque="o,1", qop="auth-int, auth", stale=%v, algorithm=`, nonce, stale)
	if g.together {
		w.Header().Set("WWW-Authenticate", `Basic realm="x", `+asks+"MD5, "+asks+g.algorithm+", NTLM")
	} else {
		w.Header()["Www-Authenticate"] = []string{`Basic realm="x"`, asks + g.algorithm}
	}
	w.WriteHeader(http.StatusUnauthorized)
}

// splitOutside splits at commas that are in no quotes.
func splitOutside(s string) (all []string) {
	from, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ',' && !quoted:
			all, from = append(all, s[from:i]), i+1
		}
	}
	return append(all, s[from:])
}

// sigv4 checks a signature as AWS has it, of the fields that it names.
func (g *guard) sigv4(region, service string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		problem := verify(r, body, region, service)
		g.mu.Lock()
		defer g.mu.Unlock()
		if problem != "" {
			g.wrong++
			g.why = append(g.why, problem)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		g.right++
	}
}

func verify(r *http.Request, body []byte, region, service string) string {
	said, is := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	f := map[string]string{}
	for _, part := range strings.Split(said, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		f[k] = v
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	day := at.Format("20060102")
	scope := day + "/" + region + "/" + service + "/aws4_request"
	if !is || err != nil || f["Credential"] != user+"/"+scope || time.Since(at).Abs() > 5*time.Minute {
		return fmt.Sprintf("%q at %v, scope %s", said, at, scope)
	}
	names := strings.Split(f["SignedHeaders"], ";")
	if !slices.Contains(names, "host") || !slices.Contains(names, "x-amz-date") || !slices.IsSorted(names) {
		return "signed are " + f["SignedHeaders"]
	}
	asked, rawQuery, _ := strings.Cut(r.RequestURI, "?")
	if service == "s3" { // whose paths are escaped once, and others as they came
		asked = r.URL.Path
	}
	var query []string
	for pair := range strings.SplitSeq(rawQuery, "&") {
		if name, value, _ := strings.Cut(pair, "="); pair != "" {
			query = append(query, escape(unescape(name), "")+"="+escape(unescape(value), ""))
		}
	}
	slices.Sort(query)
	canonical := r.Method + "\n" + escape(asked, "/") + "\n" + strings.Join(query, "&") + "\n"
	for _, n := range names {
		v := strings.Join(r.Header.Values(n), ",")
		switch n {
		case "host":
			v = r.Host
		case "content-length":
			v = strconv.FormatInt(r.ContentLength, 10)
		}
		canonical += n + ":" + strings.Join(strings.Fields(v), " ") + "\n"
	}
	hashed := sum(sha256.New(), string(body))
	old := strings.HasPrefix(r.UserAgent(), "curl/") // some versions do not send it
	if got := r.Header.Get("X-Amz-Content-Sha256"); service == "s3" && got != hashed && (got != "" || !old) {
		return "the body's hash is " + r.Header.Get("X-Amz-Content-Sha256")
	}
	canonical += "\n" + f["SignedHeaders"] + "\n" + hashed
	key := []byte("AWS4" + password)
	for _, s := range []string{day, region, service, "aws4_request"} {
		key = mac(key, s)
	}
	want := hex.EncodeToString(mac(key, "AWS4-HMAC-SHA256\n"+r.Header.Get("X-Amz-Date")+"\n"+scope+"\n"+sum(sha256.New(), canonical)))
	if f["Signature"] != want {
		return "signature of\n" + canonical
	}
	return ""
}

// escape escapes all bytes but those that RFC 3986 calls unreserved, and others.
func escape(s, but string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~"+but, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// unescape is what a part of a query stands for.
func unescape(s string) string {
	plain, _ := url.QueryUnescape(s)
	return plain
}

func mac(key []byte, s string) []byte {
	h := hmac.New(sha256.New, key)
	io.WriteString(h, s)
	return h.Sum(nil)
}

// plan is a plan for n requests to a server.
func plan(t *testing.T, at string, n int64, how string, reqs ...proto.Request) loadplan.Plan {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	port, _ := strconv.Atoi(u.Port())
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: at, Host: u.Hostname(), Port: uint16(port)}
	p.Auth, p.User = how, user+":"+password
	p.Threads, p.Connections, p.Requested, p.Guest, p.Ring = 2, 4, n, true, "portable"
	p.Duration, p.Drain, p.Timeout = 0, loadplan.Seconds(time.Minute), loadplan.Seconds(time.Minute)
	for _, r := range reqs {
		r.Authority = u.Host
		p.Requests = append(p.Requests, loadplan.Request{Request: r, Name: r.Method + " " + r.Path, Weight: 1})
	}
	if err := onestep.SetScenario(&p, nil); err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t *testing.T, p loadplan.Plan) *loadresult.Result {
	t.Helper()
	r, err := load.Run(t.Context(), p, func(loadresult.Interval) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// requests are of all that is signed: methods, paths, queries, fields, bodies. A path that is not escaped is sent
// as it is.
var requests = []proto.Request{{Method: "GET", Path: "/a?b=1&a=%20x"}, {Method: "GET", Path: "/bucket/a=b+c/(d)*%3d?a;b=1&x=+&x&x=&a-=/&a%2f"},
	{Method: "GET", Path: "/", Header: []proto.Field{{Name: "Host", Value: "a.example:80"}}}, {Method: "POST", Path: "/b%20c/d", Body: []byte("hello"),
		Header: []proto.Field{{Name: "X-Other", Value: "one  two"}, {Name: "Content-Type", Value: "text/plain"}}}, {Method: "PUT", Path: "/", Body: []byte{0, 1, 2}}}

// A user is asked once for each nonce, by a request that is sent again and counts once; all others have
// their nonce's next count, and all are let in. Of a nonce that is stale the server asks again.
func TestDigest(t *testing.T) {
	for name, c := range map[string]struct {
		algorithm string
		most      int
		together  bool
	}{"MD5": {"MD5", 0, false}, "SHA-256": {"SHA-256", 0, false}, "stale": {"MD5", 10, false}, "one field": {"SHA-256", 0, true}} {
		g := &guard{nonces: map[string]int{}, algorithm: c.algorithm, most: c.most, together: c.together}
		s := httptest.NewServer(http.HandlerFunc(g.digest))
		r := run(t, plan(t, s.URL, 200, loadplan.Digest, requests...))
		s.Close()
		if r.Total.Completed != 200 || r.Total.Failed != 0 || g.right != 200 || g.wrong != 0 || r.Redirects != 0 {
			t.Errorf("%s: %d completed, %d failed, %d right, %d wrong, %d redirects: %+v %q", name, r.Total.Completed, r.Total.Failed,
				g.right, g.wrong, r.Redirects, r.Failures, g.why)
		}
		if users, least := 4, 200/10-4; c.most == 0 && g.asked != users || c.most > 0 && g.asked < least {
			t.Errorf("%s: asked %d times", name, g.asked)
		}
	}
}

// Who has no right to enter is asked once more for each request, and each is an error.
func TestDigestRefused(t *testing.T) {
	g := &guard{nonces: map[string]int{}, algorithm: "MD5"}
	s := httptest.NewServer(http.HandlerFunc(g.digest))
	defer s.Close()
	p := plan(t, s.URL, 20, loadplan.Digest, requests...)
	p.User = "mallory:x"
	if r := run(t, p); r.Total.Failed != 20 || r.Total.Completed != 0 || g.right != 0 || g.wrong < 20 {
		t.Errorf("%+v, %d wrong", r.Total.Failed, g.wrong)
	}
}

// Requests are signed with their time, their fields and their bodies, for S3 and others, also over HTTP/2.
func TestSigV4(t *testing.T) {
	for name, c := range map[string]struct {
		service string
		chunks  int
		h2      bool
	}{"s3": {"s3", 0, false}, "another": {"execute-api", 0, false}, "chunks": {"execute-api", 3, false}, "h2": {"s3", 0, true}} {
		g := &guard{}
		s := httptest.NewUnstartedServer(g.sigv4("eu-west-1", c.service))
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetHTTP1(!c.h2)
		s.Config.Protocols.SetUnencryptedHTTP2(c.h2)
		s.Start()
		p := plan(t, s.URL, 60, "sigv4:eu-west-1/"+c.service, requests...)
		p.ChunkSize, p.Target.H2C = c.chunks, c.h2
		r := run(t, p)
		s.Close()
		if r.Total.Completed != 60 || g.right != 60 || g.wrong != 0 {
			t.Errorf("%s: %d completed, %d right, %d wrong: %q", name, r.Total.Completed, g.right, g.wrong, g.why)
		}
	}
}

// A request that says itself who sends it is left as it is.
func TestOwnAuthorization(t *testing.T) {
	for _, how := range []string{loadplan.Digest, "sigv4:eu-west-1/s3"} {
		said := make(chan string, 100)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			said <- r.Header.Get("Authorization")
			w.Header().Set("WWW-Authenticate", `Digest realm="x", nonce="y"`)
			w.WriteHeader(http.StatusUnauthorized)
		}))
		r := run(t, plan(t, s.URL, 8, how, proto.Request{Method: "GET", Path: "/", Header: []proto.Field{{Name: "authorization", Value: "mine"}}}))
		s.Close()
		if r.Total.Failed != 8 || len(said) != 8 || <-said != "mine" {
			t.Errorf("%s: %d failed, %d asked", how, r.Total.Failed, len(said))
		}
	}
}

// The guards let curl in, too, so that they want what others send.
func TestCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed; Debian's package is curl (see e2e/install.sh)")
	}
	d, s3 := &guard{nonces: map[string]int{}, algorithm: "MD5"}, &guard{}
	for _, c := range []struct {
		g     *guard
		serve http.Handler
		args  []string
	}{{d, http.HandlerFunc(d.digest), []string{"--digest"}}, {s3, s3.sigv4("eu-west-1", "s3"), []string{"--aws-sigv4", "aws:amz:eu-west-1:s3"}}} {
		s := httptest.NewServer(c.serve)
		out, err := exec.Command("curl", append(c.args, "--noproxy", "*", "-sf", "-u", user+":"+password, "-d", "hello", s.URL+"/a?a=1&b=2")...).CombinedOutput()
		s.Close()
		if err != nil || c.g.right != 1 {
			t.Errorf("%s: %v, %d right: %s %q", c.args, err, c.g.right, out, c.g.why)
		}
	}
}
