package profile

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	httppprof "net/http/pprof"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	model "github.com/google/pprof/profile"
)

// goServer serves pprof beside /answer, which does as much again in burnCPU if asked to.
func goServer(t *testing.T) *httptest.Server {
	s := httptest.NewServer(goHandler())
	t.Cleanup(s.Close)
	return s
}

func goHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", httppprof.Index)
	mux.HandleFunc("/debug/pprof/profile", httppprof.Profile)
	mux.HandleFunc("/answer", func(w http.ResponseWriter, r *http.Request) {
		sum := answer(rounds)
		if r.URL.Query().Has("burn") {
			sum += burnCPU(rounds)
		}
		fmt.Fprintln(w, sum)
	})
	var contended sync.Mutex
	mux.HandleFunc("/wait", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, holdLock(&contended), len(allocate(1<<20)))
	})
	return mux
}

// rounds take some milliseconds, beside which an exchange is nothing.
const rounds = 2_000_000

//go:noinline
func answer(rounds int) uint64 { return xorshift(rounds) }

//go:noinline
func burnCPU(rounds int) uint64 { return xorshift(rounds) }

// xorshift touches no memory, so that the race detector is not what is measured.
func xorshift(rounds int) uint64 {
	x := uint64(1)
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

//go:noinline
func holdLock(m *sync.Mutex) uint64 {
	m.Lock()
	defer m.Unlock()
	return burnCPU(rounds / 4)
}

//go:noinline
func allocate(n int) []byte { return make([]byte, n) }

// under runs f while two clients load url; there is no load after it.
func under(t *testing.T, url string, f func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	var clients sync.WaitGroup
	failed := make(chan error, 2)
	for range 2 {
		clients.Go(func() {
			for ctx.Err() == nil {
				if err := get(ctx, url); err != nil && ctx.Err() == nil {
					failed <- err
					return
				}
			}
		})
	}
	f()
	cancel()
	clients.Wait()
	select {
	case err := <-failed:
		t.Fatal(err)
	default:
	}
}

func get(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	_, err = io.Copy(io.Discard, a.Body)
	return err
}

func fetched(t *testing.T, base string, kind Kind, d time.Duration) *Profile {
	t.Helper()
	p, err := Fetch(t.Context(), base, kind, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The difference between two variants of a server under load is found, by name. A busy machine gives
// a profile few samples, so it may take longer.
func TestFetchCPU(t *testing.T) {
	s := goServer(t)
	var err error
	for d := time.Second; d <= 32*time.Second; d *= 2 {
		var plain, burning *Profile
		under(t, s.URL+"/answer", func() { plain = fetched(t, s.URL, CPU, d) })
		under(t, s.URL+"/answer?burn", func() { burning = fetched(t, s.URL, CPU, d/2) })
		if err = burns(t, plain, burning); err == nil {
			return
		}
		t.Logf("in %v: %v", d, err)
	}
	t.Error(err)
}

// burns looks for burnCPU in a profile, and in its difference from one without it.
func burns(t *testing.T, plain, burning *Profile) error {
	t.Helper()
	if share, ok := Share(burning, "burnCPU"); !ok || share.Cumulative.Share < 0.2 || share.Cumulative.Share > 0.8 {
		return fmt.Errorf("burnCPU takes %+v", share)
	}
	all, err := Diff(plain, burning)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(d Delta) bool { return d.Change > 0 }) // the largest of those that grew
	if i < 0 || !strings.HasSuffix(all[i].Function, ".burnCPU") || all[i].Interval.Low <= 0 {
		return fmt.Errorf("what grew most is not burnCPU: %+v", all)
	}
	return nil
}

func TestFetchCPUWhileAnotherDoes(t *testing.T) {
	s := goServer(t)
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Skip("this test is being profiled itself:", err)
	}
	defer pprof.StopCPUProfile()
	_, err := Fetch(t.Context(), s.URL, CPU, time.Second)
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "wait for the other to end") {
		t.Error(err)
	}
}

// All that is counted over a duration is taken at once, from the same load.
func TestFetchOverDuration(t *testing.T) {
	defer runtime.SetMutexProfileFraction(runtime.SetMutexProfileFraction(1))
	runtime.SetBlockProfileRate(1000)
	defer runtime.SetBlockProfileRate(0)
	s := goServer(t)
	where := map[Kind]string{Mutex: "holdLock", Block: "holdLock", Allocs: "allocate"}
	got := make(chan *Profile, len(where))
	under(t, s.URL+"/wait", func() {
		for kind, function := range where {
			go func() {
				p, err := Fetch(t.Context(), s.URL+"/debug/pprof/", kind, time.Second)
				got <- p
				if err != nil {
					t.Error(err)
				} else if sh, ok := Share(p, function); !ok || sh.Cumulative.Share <= 0 ||
					sh.Cumulative.Interval != nil {
					t.Errorf("%s: %s has %+v of %d samples", kind, function, sh, len(p.Sample))
				}
			}()
		}
		for range where {
			if p := <-got; p != nil && (p.DurationNanos < 9e8 || len(p.Comments) > 0) {
				t.Errorf("over %v, %q", time.Duration(p.DurationNanos), p.Comments)
			}
		}
	})
}

func TestFetchAtInstant(t *testing.T) {
	s := goServer(t)
	kept := allocate(64 << 20)
	runtime.GC()
	heap := fetched(t, s.URL, Heap, 0)
	if sh, ok := Share(heap, "allocate"); !ok || sh.Type != "inuse_space" ||
		sh.Cumulative.Value < int64(len(kept)) {
		t.Errorf("64 MiB are in use: %+v", sh)
	}
	runtime.KeepAlive(kept)
	all := fetched(t, s.URL, Allocs, 0)
	if sh, ok := Share(all, "allocate"); !ok || sh.Type != "alloc_space" {
		t.Errorf("64 MiB were allocated: %+v", sh)
	}
	goroutines := fetched(t, s.URL, Goroutine, time.Second)
	if sh, ok := Share(goroutines, "TestFetchAtInstant"); !ok || sh.Cumulative.Value != 1 {
		t.Errorf("goroutines of this test: %+v", sh)
	}
}

// An idle server has no samples, and that is no error; if it is because the server does not
// count, the profile says so.
func TestFetchNothing(t *testing.T) {
	empty := &Profile{SampleType: []*model.ValueType{{Type: "contentions", Unit: "count"}}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		empty.Write(w)
	}))
	defer s.Close()
	p := fetched(t, s.URL, Mutex, 2*time.Second)
	said := strings.Join(p.Comments, "; ")
	if len(p.Sample) != 0 || !strings.Contains(said, "SetMutexProfileFraction") ||
		!strings.Contains(said, "since the server started: it cannot count 2 s only") {
		t.Errorf("%v, %s", p, said)
	}
	if _, ok := Share(p, "f"); ok {
		t.Error("there is a share of nothing")
	}
}

func TestFetchFromUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "p") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip("no unix sockets here:", err)
	}
	s := &http.Server{Handler: goHandler()}
	go s.Serve(l)
	defer s.Close()
	for _, uri := range []string{"", ":", ":/", ":/debug/pprof", ":/debug/pprof/"} {
		if p := fetched(t, "http+unix://"+path+uri, Goroutine, 0); len(p.Sample) == 0 {
			t.Errorf("%q: no goroutines", uri)
		}
	}
	_, err = Fetch(t.Context(), "http+unix://"+path+":/elsewhere", Heap, 0)
	if !errors.Is(err, ErrUnavailable) ||
		!strings.Contains(err.Error(), "http+unix://"+path+":/elsewhere/heap answered 404") {
		t.Error(err)
	}
}

func TestFetchRefused(t *testing.T) {
	goes := func(w http.ResponseWriter) { w.Header().Set("X-Go-Pprof", "1") }
	for _, c := range []struct {
		name   string
		kind   Kind
		answer http.HandlerFunc
		is     error
		says   string
	}{
		{"write timeout", CPU, func(w http.ResponseWriter, r *http.Request) {
			goes(w)
			http.Error(w, "profile duration exceeds server's WriteTimeout", 400)
		}, nil, "profile for less than 1 s, or serve pprof from an http.Server of its own"},
		{"not mounted", CPU, http.NotFound, ErrUnavailable, `import _ "net/http/pprof"`},
		{"unknown to its Go", Mutex, func(w http.ResponseWriter, r *http.Request) {
			goes(w)
			http.Error(w, "Unknown profile", 404)
		}, ErrUnavailable, "the server's Go does not know it"},
		{"credentials", CPU, func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "who?", http.StatusUnauthorized)
		}, ErrUnavailable, "credentials"},
		{"redirect", CPU, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.invalid/", http.StatusPermanentRedirect)
		}, nil, `308 Permanent Redirect to "https://elsewhere.invalid/", which is not followed`},
		{"fault", Heap, func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "out of\norder", 500)
		}, nil, `500 Internal Server Error, "out of order"`},
		{"a page", CPU, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "<!doctype html><title>Welcome</title>")
		}, nil, `beginning "<!doctype html><title>Welcome</title>", which is not a profile`},
		{"nothing", CPU, func(http.ResponseWriter, *http.Request) {}, nil, "not a profile"},
		{"half", CPU, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "\x1f\x8b")
		}, nil, "the connection ended before the profile did"},
		{"dead", CPU, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			nil, "its WriteTimeout is below 1 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(c.answer)
			defer s.Close()
			base := strings.Replace(s.URL, "://", "://me:secret@", 1) + "?token=secret"
			p, err := Fetch(t.Context(), base, c.kind, time.Second)
			if err == nil || !strings.Contains(err.Error(), c.says) ||
				c.is != nil && !errors.Is(err, c.is) {
				t.Fatalf("%v, %v; want an error that says %q", p, err, c.says)
			}
			for _, word := range []string{string(c.kind), s.URL} {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%q gives a secret away", err)
			}
		})
	}
}

// A server whose Go is too old for a duration gives what it has.
func TestFetchWithoutDelta(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "pw" {
			http.Error(w, "who?", http.StatusUnauthorized)
			return
		}
		if r.URL.Path != "/debug/pprof/allocs" || r.FormValue("token") != "a" {
			http.NotFound(w, r)
			return
		}
		if r.FormValue("seconds") != "" {
			w.Header().Set("X-Go-Pprof", "1")
			http.Error(w, `"seconds" parameter is not supported for this profile type`, 400)
			return
		}
		httppprof.Handler("allocs").ServeHTTP(w, r)
	}))
	defer s.Close()
	base := strings.Replace(s.URL, "://", "://me:pw@", 1) + "/debug/pprof?token=a"
	p := fetched(t, base, Allocs, time.Second)
	if len(p.Comments) != 1 || !strings.Contains(p.Comments[0], "since the server started") {
		t.Errorf("comments %q", p.Comments)
	}
}

func TestTooLarge(t *testing.T) {
	if _, err := readAtMost(io.LimitReader(zero{}, 4097), 4096); !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
	if b, err := readAtMost(io.LimitReader(zero{}, 4096), 4096); err != nil || len(b) != 4096 {
		t.Error(len(b), err)
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := io.CopyN(z, zero{}, 1<<20+1); err != nil {
		t.Fatal(err)
	}
	z.Close()
	if _, err := gunzipAtMost(bomb.Bytes(), 1<<20); !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
	if b, err := gunzipAtMost(bomb.Bytes(), 1<<20+1); err != nil || len(b) != 1<<20+1 {
		t.Error(len(b), err)
	}
}

func TestFetchUsage(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, c := range []struct {
		base string
		kind Kind
		d    time.Duration
		says string
	}{
		{gone.URL, "trace", 1, "there is no such kind; there are [allocs block cpu goroutine"},
		{gone.URL, CPU, 0, "0s is no duration to profile for"},
		{gone.URL, Heap, -1, "-1ns is no duration"},
		{gone.URL, CPU, 2 * time.Hour, "give 1s to 1h0m0s"},
		{"127.0.0.1:6060", CPU, 1, "the URL of pprof"},
		{"ftp://127.0.0.1/", CPU, 1, "http://127.0.0.1:6060/debug/pprof"},
		{"http://", CPU, 1, "the URL of pprof is"},
		{"http+unix://relative", CPU, 1, "a socket is named by its whole path"},
		{"http+unix:///no/such/socket:/", CPU, 1, "http+unix:///no/such/socket:/debug/pprof/profile"},
		{gone.URL, CPU, 1, "is the server up"},
	} {
		_, err := Fetch(t.Context(), c.base, c.kind, c.d)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s of %s over %v: %v, want %q", c.kind, c.base, c.d, err, c.says)
		}
	}
}

func TestFetchEnds(t *testing.T) {
	s := goServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := Fetch(ctx, s.URL, Mutex, time.Minute); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// zero is endless.
type zero struct{}

func (zero) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
