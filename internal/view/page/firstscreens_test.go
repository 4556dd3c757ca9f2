package page

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkScreenshotsOfFirstScreens takes pictures of what a reader sees without scrolling, if
// DYNO_SCREENSHOTS names a folder for them: of runs, of an experiment that a test made, and of those
// whose folders DYNO_EXPERIMENTS lists. make screenshots asks for it.
func BenchmarkScreenshotsOfFirstScreens(b *testing.B) {
	pages := map[string][]byte{}
	html, _ := experimentHTML(b, experimentFolder(b, 10, 20))
	pages["experiment"] = html
	for name, r := range results(b) {
		pages["run-"+name] = runPage(b, r)
	}
	for _, s := range stories() {
		pages["story-"+s.name], _ = experimentHTML(b, s.folder(b))
	}
	for name, r := range runStories(b) {
		pages["story-"+name] = runPage(b, r)
	}
	for _, dir := range filepath.SplitList(os.Getenv("DYNO_EXPERIMENTS")) {
		var page bytes.Buffer
		if err := Experiment(&page, dir, ""); err != nil {
			b.Error(err)
			continue
		}
		pages["lab-"+strings.ReplaceAll(strings.Trim(dir, "/"), "/", "-")] = page.Bytes()
	}
	for name, html := range pages {
		shootFirstScreen(b, name, func(w io.Writer) error { _, err := w.Write(html); return err })
	}
}

// shootFirstScreen writes the first screen of a page: a laptop's light and dark, a telephone's.
func shootFirstScreen(b *testing.B, name string, write func(io.Writer) error) {
	dir := os.Getenv("DYNO_SCREENSHOTS")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	tab := chromium.OpenPage(b, made(b, write))
	for _, look := range []struct {
		name          string
		width, height int64
		dark          bool
	}{{"1280-light", 1280, 800, false}, {"1280-dark", 1280, 800, true}, {"390-light", 390, 844, false}} {
		tab.SetViewport(look.width, look.height, look.dark)
		tab.ScreenshotViewport(filepath.Join(dir, name+"-"+look.name+".png"))
	}
}
