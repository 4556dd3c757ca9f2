package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	doc "dyno/internal/view/document"
	"dyno/internal/view/page/pagetest"
)

var chromium pagetest.Browser

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // no test is about memory, and fixtures make much garbage
	code := m.Run()
	chromium.Close()
	os.Exit(code)
}

// made is the page that write writes.
func made(t testing.TB, write func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// numbers are all numbers of v's JSON, by their path.
func numbers(t testing.TB, v any) map[string]float64 {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	walk("", tree, func(path string, n float64) { all[path] = n })
	return all
}

func walk(path string, v any, number func(string, float64)) {
	below := func(key string) string {
		if path == "" {
			return key
		}
		return path + "." + key
	}
	switch v := v.(type) {
	case float64:
		number(path, v)
	case []any:
		for i, e := range v {
			walk(below(strconv.Itoa(i)), e, number)
		}
	case map[string]any:
		for k, e := range v {
			walk(below(k), e, number)
		}
	}
}

// shows fails the test unless the tab has each of the numbers where its path says.
func shows(t testing.TB, tab *pagetest.Tab, want map[string]float64) {
	t.Helper()
	have := tab.NumbersByPath()
	missing := 0
	for path, n := range want {
		shown, is := have[path]
		f, err := strconv.ParseFloat(shown, 64)
		if is && err == nil && math.Abs(f-n) <= 1e-12*math.Abs(n) {
			continue
		}
		if missing++; missing <= 10 {
			t.Errorf("%s is %v, and the page has %q", path, n, shown)
		}
	}
	if missing > 10 {
		t.Errorf("and %d more of %d numbers", missing-10, len(want))
	}
	if len(want) == 0 {
		t.Error("there is nothing to look for")
	}
}

// inPlace fails the test if a text in a section's figures is cut or covers another. The other
// sections are hidden meanwhile: drawing them again takes its time.
func inPlace(t testing.TB, tab *pagetest.Tab, section string) {
	t.Helper()
	only(tab, section)
	placed(t, tab)
	only(tab, "")
}

// placed fails the test if a text in a figure is cut or covers another, on a telephone as on a
// large screen.
func placed(t testing.TB, tab *pagetest.Tab) {
	t.Helper()
	tab.OpenSections()
	for _, width := range []int64{390, 1280, 2560} {
		tab.SetViewport(width, 900, false)
		for _, bad := range tab.Misplaced() {
			t.Errorf("at %d: %s", width, bad)
		}
	}
}

// says fails the test unless the tab has each of the sentences, word for word.
func says(t testing.TB, tab *pagetest.Tab, sentences []string, facts []doc.Row) {
	t.Helper()
	text := tab.ElementText("body")
	for _, f := range facts {
		sentences = append(sentences, f.Text)
	}
	for _, s := range sentences {
		if !strings.Contains(text, s) {
			t.Errorf("it does not say: %s", s)
		}
	}
}

// only hides all sections but one; "" shows all.
func only(tab *pagetest.Tab, section string) {
	pagetest.Evaluate[chromedp.Void](tab, fmt.Sprintf(`document.querySelectorAll("main section").forEach(
		(s) => { s.hidden = %q !== "" && s.id !== %[1]q })`, section))
}

// shoot writes pictures of a page, light and dark, at the widths of a telephone, a laptop and a
// large screen, if DYNO_SCREENSHOTS names a folder for them.
func shoot(t testing.TB, tab *pagetest.Tab, name string) {
	t.Helper()
	dir := os.Getenv("DYNO_SCREENSHOTS")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	tab.OpenSections()
	for _, width := range []int64{390, 1280, 2560} {
		for _, dark := range []bool{false, true} {
			tab.SetViewport(width, 900, dark)
			look := map[bool]string{false: "light", true: "dark"}[dark]
			tab.Screenshot(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, look)))
		}
	}
}
