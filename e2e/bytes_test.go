//go:build linux

package e2e

import (
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/requests"
	"dyno/internal/fairness"
	"dyno/internal/lab/experiment"
	labrun "dyno/internal/lab/run"
)

// An answerSize is how many bytes a server of a shipped experiment answers with.
type answerSize struct {
	variant string
	bytes   int64
	says    map[string]string // headers whose values are as long as some version's name
	times   int64             // that it says so, in the header and in the body; 0: once
}

// sizes were found by ab (Debian 12, in servers started by hand) and by the authors of
// the experiments' articles, whose own bytes are behind the lines where they differ.
var sizes = map[string][]answerSize{
	"redirects": {
		{variant: "php-apache", bytes: 240, says: debianApache}, // 242: PHP/8.0.0RC4
		{variant: "php-apache-opcache", bytes: 240, says: debianApache},
		{variant: "php-builtin", bytes: 212, // 217: PHP/8.0.0RC4, and a longer Host
			says: map[string]string{"Host": "127.0.0.1:10000", "X-Powered-By": "PHP/8.2.35"}},
		{variant: "java-source", bytes: 163},
		{variant: "java", bytes: 163},
		{variant: "go-run", bytes: 220},
		{variant: "go", bytes: 220},
		{variant: "node", bytes: 124},
		{variant: "python", bytes: 140, says: map[string]string{"Server": "BaseHTTP/0.6 Python/3.11.7"}},
		{variant: "ruby", bytes: 74},
		{variant: "nginx", bytes: 360, says: map[string]string{"Server": "nginx/1.22.1"}, times: 2},
		{variant: "caddy", bytes: 155}, // 157: a longer Host
		{variant: "caddy-as-meant", bytes: 139},
		{variant: "traefik", bytes: 116}, // 157: Traefik 2 said a Content-Type
		{variant: "traefik-as-meant", bytes: 141},
		{variant: "php-fpm", bytes: 211,
			says: map[string]string{"Server": "nginx/1.22.1", "X-Powered-By": "PHP/8.2.35"}},
		{variant: "haproxy", bytes: 105},
		{variant: "lighttpd", bytes: 167, says: map[string]string{"Server": "lighttpd/1.4.69"}},
	},
	"dump-request": {{variant: "without", bytes: 138}},
	"nginx-in-front-of-go": {
		{variant: "go gomaxprocs=1", bytes: 141 + 12},
		{variant: "nginx-http gomaxprocs=1", bytes: 141 + 12},
		{variant: "nginx-fastcgi-tcp gomaxprocs=1", bytes: 141 + 12},
		{variant: "nginx-fastcgi-unix gomaxprocs=1", bytes: 141 + 12},
	},
}

var debianApache = map[string]string{"Server": "Apache/2.4.71 (Debian)", "X-Powered-By": "PHP/8.2.35"}

// questions are what the experiments' articles asked: ab, ab -k, and wrk.
var questions = map[string]func(*fairness.Question){
	"redirects": func(q *fairness.Question) { q.Way.HTTP, q.Way.Reconnect = "1.0", 1 },
	"dump-request": func(q *fairness.Question) {
		q.Way.HTTP, q.Request.Header = "1.0", []proto.Field{{Name: "Connection", Value: "Keep-Alive"}}
	},
	"nginx-in-front-of-go": func(*fairness.Question) {},
}

// questionTo asks for a URL as a load does.
func questionTo(t *testing.T, url string) fairness.Question {
	u, err := requests.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	p := loadplan.DefaultPlan()
	p.Target = u.Target
	return fairness.Question{Way: p.Way(), Request: proto.Request{Method: "GET", Authority: u.Authority, Path: u.Path}}
}

// The servers of the shipped experiments answer with as many bytes as those of the
// articles did, and as many to dyno as to ab.
func TestBytesAsPublished(t *testing.T) {
	for name, all := range sizes {
		stage, e := openShipped(t, name)
		variants := variantsOf(e)
		for _, want := range all {
			t.Run(name+"/"+want.variant, func(t *testing.T) {
				t.Parallel()
				want.checkSizes(t, stage, name, variants[want.variant], e.Levels[0], questions[name])
			})
		}
	}
}

// checkSizes starts the server, and counts what it answers.
func (w answerSize) checkSizes(t *testing.T, stage *labrun.Stage, of string, v experiment.Variant, l experiment.Level,
	change func(*fairness.Question)) {
	if missing := experiment.Missing(v); len(missing) > 0 {
		t.Skip(strings.Join(missing, "; "))
	}
	buildVariant(t, stage, of, v)
	stand := startVariant(t, stage, v, l)
	defer stand.Stop()
	q := questionTo(t, stand.URL())
	change(&q)
	q.Times, q.Brief = 3, true
	got, err := fairness.Ask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	want := w.bytes
	for _, line := range got.Header {
		if said, is := w.says[line.Name]; is {
			want += max(w.times, 1) * int64(len(line.Value)-len(said))
		}
	}
	if got.WireBytes.Min != want || got.WireBytes.Max != want {
		t.Errorf("%+v bytes, want %d; %+v", got.WireBytes, want, got.Header)
	}
	if ab, has := requestByAB(t, q); has && ab != want {
		t.Errorf("%d bytes to ab, %d to dyno", ab, want)
	}
}

var transferred = regexp.MustCompile(`Total transferred: +(\d+) bytes`)

// requestByAB returns how many bytes ab gets for one request, if ab is installed and can make it.
func requestByAB(t *testing.T, q fairness.Question) (bytes int64, has bool) {
	ab, err := exec.LookPath("ab")
	if err != nil || q.Way.HTTP != "1.0" {
		return 0, false
	}
	args := []string{"-q", "-n", "1", q.Way.Target.URL}
	if q.Way.Reconnect != 1 {
		args = append([]string{"-k"}, args...)
	}
	out, err := exec.CommandContext(t.Context(), ab, args...).CombinedOutput()
	found := transferred.FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	bytes, err = strconv.ParseInt(string(found[1]), 10, 64)
	return bytes, err == nil
}
