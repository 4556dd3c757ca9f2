package remote

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// status is what nginx says of itself.
const status = "Active connections: 291 \nserver accepts handled requests\n 16630948 16630940 %d \n" +
	"Reading: 6 Writing: 179 Waiting: 106 \n"

func TestReadCount(t *testing.T) {
	for text, want := range map[string]Count{
		fmt.Sprintf(status, 31070465):   {31070465, true},
		`{"served": 12}`:                {12, false},
		`{"served": 0, "more": [1, 2]}`: {0, false},
	} {
		if c, err := parseCount([]byte(text)); err != nil || c != want {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
	for _, text := range []string{"", "12", `{"served": "12"}`, `{"served": -1}`, `{"requests": 12}`, `{"served": 1.5}`,
		"Active connections: 1 \nserver accepts handled requests\n 1 1 \nReading: 0",
		strings.Replace(status, "%d", strings.Repeat("9", 20), 1)} {
		if c, err := parseCount([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, c)
		}
	}
}

func FuzzReadCount(f *testing.F) {
	f.Add([]byte(fmt.Sprintf(status, 7)))
	f.Add([]byte(`{"served": 7}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := parseCount(b); err == nil && c.Served < 0 {
			t.Errorf("%q: %+v", b, c)
		}
	})
}

// Whoever is not where the server is has a worker ask, in the same way.
func TestWorkerCounts(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, status, 42)
	}))
	defer s.Close()
	said := talk(t, task{Count: s.URL}, func(message) bool { return false })
	c, err := NewCounter(s.URL)(t.Context())
	if err != nil || len(said) != 1 || *said[0].Counted != c || c != (Count{42, true}) {
		t.Errorf("%+v, asked from here %+v, %v", said, c, err)
	}
}
