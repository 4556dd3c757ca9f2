//go:build linux

package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"dyno/internal/engine/auth/authtest"
)

// --auth is of all requests of a Hurl file, in a load and in scenario run, also of those that follow redirects, but for those that say
// themselves who sends them.
func TestHurlSigned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const text = "GET {{base}}/a=b?c;d\nHTTP 200\n\nPOST {{base}}/moved\n[Options]\nlocation: true\n{\"a\": 1}\nHTTP 200\n\n" +
		"GET {{base}}/basic\n[BasicAuth]\nbob: pw\nHTTP 200\n"
	if err := os.WriteFile(filepath.Join(dir, "visit.hurl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for how, service := range map[string]string{"digest": "", "sigv4:eu-west-1/s3": "s3"} {
		let := http.NewServeMux()
		let.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
		let.Handle("/moved", http.RedirectHandler("/to", http.StatusSeeOther))
		g, basic := &authtest.Guard{Then: let}, new(atomic.Int64)
		serve := http.HandlerFunc(g.Digest)
		if service != "" {
			serve = g.SigV4("eu-west-1", service)
		}
		mux := http.NewServeMux()
		mux.Handle("/", serve)
		mux.HandleFunc("/basic", func(_ http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user+password == "bobpw" {
				basic.Add(1)
			}
		})
		s := httptest.NewServer(mux)
		out, err := shell(t, dir, "dyno run --no-save -n 30 -c 3 visit.hurl --variable base="+s.URL+" --drain 1m --timeout 1m"+
			" --auth "+how+" -u '"+authtest.User+":"+authtest.Password+"'").CombinedOutput()
		once, onceErr := shell(t, dir, "dyno scenario run -v -n 2 visit.hurl --variable base="+s.URL+" --timeout 1m --auth "+how+
			" -u '"+authtest.User+":"+authtest.Password+"'").CombinedOutput()
		s.Close()
		if err != nil || onceErr != nil || g.Right != 96 || g.Wrong != 0 || basic.Load() != 32 {
			t.Errorf("%s: %v, %v, %d let in, %d wrong, %d by Basic: %.600q\n%s\n%s", how, err, onceErr, g.Right, g.Wrong, basic.Load(), g.Why,
				out, once)
		}
	}
}

// Hurl's own options say it of one request: digest and aws-sigv4, with the option user, whose name and password may be
// a row's, each of another user. Without one of them the option user is Basic.
func TestHurlOptionsSign(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const text = "GET {{base}}/digest/a?b=c;d\n[Options]\ndigest: true\nuser: {{name}}:{{pw}}\nHTTP 200\n\n" +
		"POST {{base}}/aws/a=b\n[Options]\nuser: {{name}}:{{pw}}\naws-sigv4: aws:amz:eu-west-1:s3\n{\"a\": 1}\nHTTP 200\n\n" +
		"GET {{base}}/digest/moved\n[Options]\nlocation: true\ndigest: true\nuser: {{name}}:{{pw}}\nHTTP 200\n\n" +
		"GET {{base}}/basic\n[Options]\nuser: bob:pw\ndigest: false\nHTTP 200\n"
	for name, text := range map[string]string{"visit.hurl": text, "users.csv": "name,pw\n" + authtest.User + `,"p:w""1"` + "\n" +
		authtest.Second + "," + authtest.SecondPassword + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	let := http.NewServeMux()
	let.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	let.Handle("/digest/moved", http.RedirectHandler("/digest/to", http.StatusFound))
	d, aws, basic := &authtest.Guard{Then: let}, &authtest.Guard{}, new(atomic.Int64)
	mux := http.NewServeMux()
	mux.HandleFunc("/digest/", d.Digest)
	mux.HandleFunc("/aws/", aws.SigV4("eu-west-1", "s3"))
	mux.HandleFunc("/basic", func(_ http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user+password == "bobpw" {
			basic.Add(1)
		}
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	out, err := shell(t, dir, "dyno run --no-save -n 30 -c 3 visit.hurl --data users.csv --variable base="+s.URL+
		" --drain 1m --timeout 1m").CombinedOutput()
	if err != nil || d.Right != 90 || d.Wrong != 0 || d.Asked != 3 || aws.Right != 30 || aws.Wrong != 0 || basic.Load() != 30 {
		t.Errorf("%v: Digest %d right, %d asked %.600q, AWS %d right %.600q, %d by Basic\n%s", err, d.Right, d.Asked, d.Why,
			aws.Right, aws.Why, basic.Load(), out)
	}
}
