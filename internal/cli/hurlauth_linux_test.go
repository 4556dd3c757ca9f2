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

// --auth is of all requests of a Hurl file, also of those that follow redirects, but for those that say
// themselves who sends them.
func TestHurlSigned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const text = "GET {{base}}/a=b?c;d\nHTTP 200\n\nPOST {{base}}/moved\n[Options]\nlocation: true\n{\"a\": 1}\nHTTP 200\n\n" +
		"GET {{base}}/basic\n[BasicAuth]\nbob: pw\nHTTP 200\n"
	if err := os.WriteFile(filepath.Join(dir, "three.hurl"), []byte(text), 0o600); err != nil {
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
		out, err := shell(t, dir, "dyno run --no-save -n 30 -c 3 three.hurl --variable base="+s.URL+" --drain 1m --timeout 1m"+
			" --auth "+how+" -u '"+authtest.User+":"+authtest.Password+"'").CombinedOutput()
		s.Close()
		if err != nil || g.Right != 90 || g.Wrong != 0 || basic.Load() != 30 {
			t.Errorf("%s: %v, %d let in, %d wrong, %d by Basic: %.600q\n%s", how, err, g.Right, g.Wrong, basic.Load(), g.Why, out)
		}
	}
}
