package serve

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
)

// FuzzRequest asks a dashboard whatever comes. In it HOST stands for the dashboard's name and
// COOKIE for the cookie of a browser that was let in, which an attacker does not know. Without
// that, nothing begins and nothing is told.
func FuzzRequest(f *testing.F) {
	begun := 0
	s, err := New(Config{Listen: "127.0.0.1:0", Home: f.TempDir(), Read: func(Form) (Job, []error) {
		begun++
		return Job{Plan: loadplan.DefaultPlan(), Run: func(context.Context, loadplan.Plan, func(loadresult.Interval)) (*result.Result,
			error) {
			return nil, context.Canceled
		}}, nil
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.http.Close(); s.listener.Close() })
	host := strings.TrimPrefix(s.Base(), "http://")
	for _, in := range []string{
		"GET / HTTP/1.1\r\nHost: HOST\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\n\r\n",
		"GET /?token=x HTTP/1.1\r\nHost: HOST\r\n\r\n",
		"GET /api/results?n=-1 HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\n\r\n",
		"GET /api/results/..%2f..%2fserve HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\n\r\n",
		"GET /results/%00 HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\n\r\n",
		"GET /api/compare?id=a&id=b HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\n\r\n",
		"GET /api/history?url=%5B HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\n\r\n",
		"GET /api/load/events HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\nLast-Event-ID: x.1\r\n\r\n",
		"GET /labs/..%2f/report HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\n\r\n",
		"GET /assets/..%2f..%2fgo.mod HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\n\r\n",
		"POST /api/load HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\nContent-Length: 23\r\n\r\n" + `{"url":"http://[::1]/"}`,
		"POST /api/load HTTP/1.1\r\nHost: evil\r\nOrigin: http://evil\r\nCookie: COOKIE\r\nContent-Length: 2\r\n\r\n{}",
		"POST /api/labs HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\nContent-Length: 15\r\n\r\n" + `{"id":"../../"}`,
		"PUT /api/results/x/note HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\nContent-Length: 12\r\n\r\n" + `{"text":"x"}`,
		"DELETE /api/load HTTP/1.1\r\nHost: HOST\r\nSec-Fetch-Site: cross-site\r\nCookie: COOKIE\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: HOST\r\n\r\n",
	} {
		f.Add([]byte(in), true)
		f.Add([]byte(in), false)
	}
	f.Fuzz(func(t *testing.T, in []byte, let bool) {
		in = bytes.ReplaceAll(in, []byte("HOST"), []byte(host))
		if let {
			in = bytes.ReplaceAll(in, []byte("COOKIE"), []byte(s.cookieName()+"="+s.keys.cookie))
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(in)))
		if err != nil {
			return
		}
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Millisecond) // of events, which have no end
		defer stop()
		before := begun
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r.WithContext(ctx))
		foreign := r.Host != host && r.Host != "localhost"+host[strings.LastIndex(host, ":"):]
		switch page := w.Header().Get("Content-Type"); {
		case w.Code < 200 || w.Code > 599:
			t.Errorf("%q is answered with %d", in, w.Code)
		case let && !foreign:
		case begun != before:
			t.Errorf("%q began a load", in)
		case w.Code < 300 && (foreign || !strings.HasPrefix(page, "text/html") || w.Body.Len() > 2<<10):
			t.Errorf("%q is answered with %d, %s, %d bytes", in, w.Code, page, w.Body.Len())
		}
	})
}
