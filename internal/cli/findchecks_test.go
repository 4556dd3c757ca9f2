package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"dyno/internal/capacity"
)

// A liar answers every 200th request of a run with a wrong body. Runs come one after the other on
// one connection, and number their requests from 1 on.
type liar struct {
	mu   sync.Mutex
	last int
	runs [][]int // numbers of the requests that were answered wrongly, by run
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	l.mu.Lock()
	if n < l.last || l.runs == nil {
		l.runs = append(l.runs, nil)
	}
	l.last = n
	wrong := n%200 == 0
	if wrong {
		k := len(l.runs) - 1
		l.runs[k] = append(l.runs[k], n)
	}
	l.mu.Unlock()
	if wrong {
		io.WriteString(w, `{"ok": false}`)
		return
	}
	io.WriteString(w, `{"ok": true}`)
}

// A search counts one wrong body in 200 exactly, and judges by it. How many requests a busy
// machine can send is not known, and no matter.
func TestFindCountsWrongBodies(t *testing.T) {
	t.Parallel()
	for slo, bad := range map[string]bool{"errors<0.25%": true, "errors<=2.5%": false} {
		t.Run(slo, func(t *testing.T) {
			t.Parallel()
			l := new(liar)
			s := httptest.NewServer(unhurried(l))
			var out, errs bytes.Buffer
			code := Main([]string{"find", "--slo", slo, "--expect-body", "json:$.ok==true", "-c", "1", "-t", "1",
				"-R", "1000", "--probe-time", "300ms", "--warmup", "100ms", "--drain", "1m", "--json", "-",
				s.URL + "/?n={{seq}}"}, strings.NewReader(""), &out, &errs)
			s.Close()
			var found capacity.Search
			if err := json.Unmarshal(out.Bytes(), &found); err != nil {
				t.Fatalf("code %d: %v\n%s", code, err, errs.Bytes())
			}
			if len(l.runs) != len(found.Probes) {
				t.Fatalf("the server saw %d runs, and there are %d probes", len(l.runs), len(found.Probes))
			}
			counted := int64(0)
			for i, p := range found.Probes {
				before, wrong := int(math.Ceil(p.Rate/10)), int64(0) // those of the warm-up
				for _, n := range l.runs[i] {
					if n > before {
						wrong++
					}
				}
				if len(p.Checks) != 1 || p.Checks[0].Failed != wrong {
					t.Errorf("%s, probe %d at %v/s: %+v; %d answers were wrong", slo, i+1, p.Rate, p.Checks, wrong)
					continue
				}
				j := p.Judged[0]
				if j.Value == nil {
					continue
				}
				if share := 100 * float64(wrong) / float64(wrong+p.Checks[0].Passed); p.Outcome == capacity.Passed &&
					*j.Value != share {
					t.Errorf("%s, probe %d: %v %% are errors, want %v %%", slo, i+1, *j.Value, share)
				}
				if bad && wrong > 0 && p.Outcome == capacity.Passed {
					t.Errorf("%s, probe %d passed with %d wrong answers", slo, i+1, wrong)
				}
				counted += wrong
			}
			t.Logf("%s: %s, %d probes, %d wrong answers, code %d", slo, found.End, len(found.Probes), counted, code)
			if bad && found.Certified != nil && *found.Certified >= 800 { // has a wrong answer in its window
				t.Errorf("%v/s are certified", *found.Certified)
			}
		})
	}
}
