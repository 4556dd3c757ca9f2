package auth_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"dyno/internal/engine/auth/authtest"
	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/proto"
)

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
	p.Auth, p.User = how, authtest.User+":"+authtest.Password
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
		g := &authtest.Guard{Algorithm: c.algorithm, Most: c.most, Together: c.together}
		s := httptest.NewServer(http.HandlerFunc(g.Digest))
		r := run(t, plan(t, s.URL, 200, loadplan.Digest, requests...))
		s.Close()
		if r.Total.Completed != 200 || r.Total.Failed != 0 || g.Right != 200 || g.Wrong != 0 || r.Redirects != 0 {
			t.Errorf("%s: %d completed, %d failed, %d right, %d wrong, %d redirects: %+v %q", name, r.Total.Completed, r.Total.Failed,
				g.Right, g.Wrong, r.Redirects, r.Failures, g.Why)
		}
		if users, least := 4, 200/10-4; c.most == 0 && g.Asked != users || c.most > 0 && g.Asked < least {
			t.Errorf("%s: asked %d times", name, g.Asked)
		}
	}
}

// Who has no right to enter is asked once more for each request, and each is an error.
func TestDigestRefused(t *testing.T) {
	g := &authtest.Guard{}
	s := httptest.NewServer(http.HandlerFunc(g.Digest))
	defer s.Close()
	p := plan(t, s.URL, 20, loadplan.Digest, requests...)
	p.User = "mallory:x"
	if r := run(t, p); r.Total.Failed != 20 || r.Total.Completed != 0 || g.Right != 0 || g.Wrong < 20 {
		t.Errorf("%+v, %d wrong", r.Total.Failed, g.Wrong)
	}
}

// Requests are signed with their time, their fields and their bodies, for S3 and others, also over HTTP/2.
func TestSigV4(t *testing.T) {
	for name, c := range map[string]struct {
		service string
		chunks  int
		h2      bool
	}{"s3": {"s3", 0, false}, "another": {"execute-api", 0, false}, "chunks": {"execute-api", 3, false}, "h2": {"s3", 0, true}} {
		g := &authtest.Guard{}
		s := httptest.NewUnstartedServer(g.SigV4("eu-west-1", c.service))
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetHTTP1(!c.h2)
		s.Config.Protocols.SetUnencryptedHTTP2(c.h2)
		s.Start()
		p := plan(t, s.URL, 60, "sigv4:eu-west-1/"+c.service, requests...)
		p.ChunkSize, p.Target.H2C = c.chunks, c.h2
		r := run(t, p)
		s.Close()
		if r.Total.Completed != 60 || g.Right != 60 || g.Wrong != 0 {
			t.Errorf("%s: %d completed, %d right, %d wrong: %q", name, r.Total.Completed, g.Right, g.Wrong, g.Why)
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
	d, s3 := &authtest.Guard{}, &authtest.Guard{}
	for _, c := range []struct {
		g     *authtest.Guard
		serve http.Handler
		args  []string
	}{{d, http.HandlerFunc(d.Digest), []string{"--digest"}}, {s3, s3.SigV4("eu-west-1", "s3"), []string{"--aws-sigv4", "aws:amz:eu-west-1:s3"}}} {
		s := httptest.NewServer(c.serve)
		out, err := exec.Command("curl", append(c.args, "--noproxy", "*", "-sf", "-u", authtest.User+":"+authtest.Password, "-d", "hello", s.URL+"/a?a=1&b=2")...).CombinedOutput()
		s.Close()
		if err != nil || c.g.Right != 1 {
			t.Errorf("%s: %v, %d right: %s %q", c.args, err, c.g.Right, out, c.g.Why)
		}
	}
}
