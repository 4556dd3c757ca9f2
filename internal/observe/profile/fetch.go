package profile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Kind is one of the profiles that a Go server offers.
type Kind string

// The kinds of profiles.
const (
	CPU       Kind = "cpu"       // CPU time over the duration
	Heap      Kind = "heap"      // memory in use as of the last garbage collection
	Allocs    Kind = "allocs"    // memory allocated over the duration
	Mutex     Kind = "mutex"     // waiting that holders of locks caused, over the duration
	Block     Kind = "block"     // waiting for locks and channels, over the duration
	Goroutine Kind = "goroutine" // stacks of all goroutines at one instant
)

// A route is where net/http/pprof offers a kind.
type route struct {
	path  string
	value string // the type of value that it is read by
	over  bool   // over a duration, rather than at an instant
	off   string // why it is empty although there was load
}

var routes = map[Kind]route{
	CPU:    {path: "profile", value: "cpu", over: true},
	Heap:   {path: "heap", value: "inuse_space"},
	Allocs: {path: "allocs", value: "alloc_space", over: true},
	Mutex: {path: "mutex", value: "delay", over: true,
		off: "is runtime.SetMutexProfileFraction called in the server?"},
	Block: {path: "block", value: "delay", over: true,
		off: "is runtime.SetBlockProfileRate called in the server?"},
	Goroutine: {path: "goroutine", value: "goroutine"},
}

// Kinds are all there are, in the order of their names.
func Kinds() []Kind { return slices.Sorted(maps.Keys(routes)) }

const (
	// answerDelayMax is how much longer than the profile itself its answer may take: a server
	// under full load is slow to begin, and slow to symbolise.
	answerDelayMax = 30 * time.Second
	// maxDuration bounds one profile.
	maxDuration = time.Hour
)

// Fetch asks a Go server for a profile. base is where net/http/pprof is mounted, such as
// http://127.0.0.1:6060/debug/pprof or http+unix:///path/to.sock:/debug/pprof; without a
// path it is /debug/pprof. Redirects and proxies are not followed.
//
// A kind that is taken over a duration takes d, rounded up to whole seconds, since Go's
// handlers know nothing shorter; cpu needs d > 0, and for others d = 0 asks for all since
// the server started. Where a server cannot do d, the same comes, and Comments say so. No
// samples is no error: an idle server has none.
func Fetch(ctx context.Context, base string, kind Kind, d time.Duration) (*Profile, error) {
	p, err := fetchProfile(ctx, base, kind, d)
	if err != nil {
		return nil, fmt.Errorf("fetching the %s profile: %w", kind, err)
	}
	return p, nil
}

func fetchProfile(ctx context.Context, base string, kind Kind, d time.Duration) (*Profile, error) {
	rt, known := routes[kind]
	switch {
	case !known:
		return nil, fmt.Errorf("there is no such kind; there are %v", Kinds())
	case d < 0 || d > maxDuration || kind == CPU && d == 0:
		return nil, fmt.Errorf("%v is no duration to profile for; give 1s to %v", d, maxDuration)
	}
	s, err := newSource(base)
	if err != nil {
		return nil, err
	}
	defer s.transport.CloseIdleConnections()
	seconds := 0
	if rt.over {
		seconds = int(math.Ceil(d.Seconds()))
	}
	p, err := s.getProfile(ctx, rt.path, seconds)
	if errors.Is(err, errNoDelta) && kind != CPU {
		p, err = s.getProfile(ctx, rt.path, 0)
	}
	if err != nil {
		return nil, err
	}
	p.DefaultSampleType = rt.value // Go loses it when it takes a difference
	if seconds > 0 && p.DurationNanos == 0 {
		p.Comments = append(p.Comments, fmt.Sprintf(
			"counted since the server started: it cannot count %d s only", seconds))
	}
	if len(p.Sample) == 0 && rt.off != "" {
		p.Comments = append(p.Comments, "no samples: "+rt.off)
	}
	return p, nil
}

// A source is one server's pprof.
type source struct {
	base      *url.URL
	shown     string // of base, what may be shown: no password, no query
	transport *http.Transport
}

func newSource(base string) (*source, error) {
	t := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	shown := ""
	if rest, unix := strings.CutPrefix(base, "http+unix://"); unix {
		socket, uri := rest, ""
		if i := strings.Index(rest, ":/"); i >= 0 {
			socket, uri = rest[:i], rest[i+1:]
		}
		if !strings.HasPrefix(socket, "/") {
			return nil, errors.New("a socket is named by its whole path: " +
				"http+unix:///path/to.sock:/debug/pprof")
		}
		socket = strings.TrimSuffix(socket, ":")
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}
		base, shown = "http://localhost"+uri, "http+unix://"+socket+":"
	}
	u, err := url.Parse(base)
	var parse *url.Error
	if errors.As(err, &parse) {
		return nil, fmt.Errorf("the URL of pprof: %w", parse.Err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the URL of pprof is http://, https:// or http+unix://, " +
			"such as http://127.0.0.1:6060/debug/pprof")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	if u.Path == "" {
		u.Path = "/debug/pprof"
	}
	if shown == "" {
		shown = u.Scheme + "://" + u.Host
	}
	return &source{u, shown + u.Path, t}, nil
}

// errNoDelta: the server knows the profile, but not over a duration.
var errNoDelta = errors.New("this profile is not to be had over a duration")

func (s *source) getProfile(ctx context.Context, path string, seconds int) (*Profile, error) {
	limit := time.Duration(seconds)*time.Second + answerDelayMax
	ctx, cancel := context.WithTimeoutCause(ctx, limit,
		fmt.Errorf("nothing came within %v", limit))
	defer cancel()
	u := s.base.JoinPath(path)
	if seconds > 0 {
		q := u.Query()
		q.Set("seconds", strconv.Itoa(seconds))
		u.RawQuery = q.Encode()
	}
	at := s.shown + "/" + path
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if user := u.User; user != nil {
		password, _ := user.Password()
		r.SetBasicAuth(user.Username(), password)
	}
	answer, err := s.transport.RoundTrip(r) // not http.Client, which follows redirects
	if err != nil {
		return nil, connectionLost(ctx, at, seconds, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, refusedError(at, seconds, answer)
	}
	b, err := readAtMost(answer.Body, MaxEncoded)
	if err != nil {
		return nil, connectionLost(ctx, at, seconds, err)
	}
	p, err := decodeProfile(b)
	if err != nil {
		return nil, fmt.Errorf("%s answered %s, %s beginning %q, which is not a profile (%w); "+
			"is it the URL of net/http/pprof?", at, answer.Status,
			answer.Header.Get("Content-Type"), b[:min(len(b), 40)], err)
	}
	return p, nil
}

// connectionLost says why no answer came, or not all of it.
func connectionLost(ctx context.Context, at string, seconds int, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", at, context.Cause(ctx))
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: the connection ended before the profile did (%w): the server "+
			"died, or its WriteTimeout is below %d s; serve pprof from an http.Server of its "+
			"own, without WriteTimeout", at, err, seconds)
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("%s: %w", at, err)
	}
	return fmt.Errorf("%s: %w; is the server up, and is that its debug port?", at, err)
}

// refusedError turns an answer that is no profile into what the user can do.
func refusedError(at string, seconds int, answer *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(answer.Body, 512)) // what came is all there is to tell
	text := strings.Join(strings.Fields(string(b)), " ")
	goes := answer.Header.Get("X-Go-Pprof") != ""
	said := fmt.Sprintf("%s answered %s", at, answer.Status)
	switch code := answer.StatusCode; {
	case strings.Contains(text, "cpu profiling already in use"):
		return fmt.Errorf("%w: %s, %q; one CPU profile at a time is possible: wait for the "+
			"other to end, or end it", ErrBusy, said, text)
	case strings.Contains(text, "WriteTimeout"):
		return fmt.Errorf("%s, %q: profile for less than %d s, or serve pprof from an "+
			"http.Server of its own, without WriteTimeout", said, text, seconds)
	case goes && strings.Contains(text, "not supported"):
		return fmt.Errorf("%s, %q: %w", said, text, errNoDelta)
	case code == http.StatusNotFound && goes:
		return fmt.Errorf("%w: %s, %q: the server's Go does not know it",
			ErrUnavailable, said, text)
	case code == http.StatusNotFound:
		return fmt.Errorf(`%w: %s: pprof is not mounted there; import _ "net/http/pprof" `+
			"serves it at /debug/pprof of http.DefaultServeMux, other routers need "+
			"pprof.Profile and pprof.Handler", ErrUnavailable, said)
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fmt.Errorf("%w: %s: it wants credentials; http://USER:PASSWORD@HOST/… "+
			"gives them", ErrUnavailable, said)
	case code >= 300 && code < 400:
		return fmt.Errorf("%s to %q, which is not followed; give that URL if it is meant",
			said, answer.Header.Get("Location"))
	}
	return fmt.Errorf("%s, %q", said, text)
}
