// Package page makes the pictures: a result, a search or an experiment as one HTML file that needs
// nothing else. It works from a disk, without a network, and shows what others wrote (names, URLs,
// what a server answered) as text and never as markup.
//
// The division of labour: Go knows what the numbers mean. It decodes histograms, judges, and makes
// every sentence, in packages report and labreport, once for terminal, Markdown and page. The
// TypeScript in web draws what it is given; it computes nothing but places on the screen.
// Observable Plot makes SVG, so export, print and screen readers use the picture itself.
//
// npm builds web into dist, which is embedded. Without it everything compiles, and what needs the
// page says how to build it.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"strings"
)

//go:embed all:dist
var dist embed.FS

// Names of the files in Assets.
const (
	Script = "page.js"
	Style  = "page.css"
)

var errNotBuilt = errors.New("this dyno was built without the page; build it with " +
	"npm --prefix internal/view/page/web ci && npm --prefix internal/view/page/web run build, " +
	"and then dyno again (make build does both)")

// Assets are the page's Script and Style. The error, if they were not built, says how to.
func Assets() (fs.FS, error) {
	assets, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, err
	}
	for _, name := range []string{Script, Style} {
		if _, err := fs.Stat(assets, name); err != nil {
			return nil, errNotBuilt
		}
	}
	return assets, nil
}

// A document is a page before it is written.
type document struct {
	title   string
	summary string // for those who run no scripts
	payload any    // as JSON: its kind says how to show it
}

// writeHTML writes the document as HTML. The policy in it allows the page's own script and style,
// by their hashes, and no connection to anywhere.
func (d document) writeHTML(w io.Writer) error {
	assets, err := Assets()
	if err != nil {
		return err
	}
	script, err := fs.ReadFile(assets, Script)
	if err != nil {
		return err
	}
	style, err := fs.ReadFile(assets, Style)
	if err != nil {
		return err
	}
	// encoding/json writes <, > and & as escapes: the data cannot end its element.
	data, err := json.Marshal(d.payload)
	if err != nil {
		return fmt.Errorf("writing the page's data: %w", err)
	}
	// A browser reads CRLF as LF, and hashes what it read.
	js := strings.ReplaceAll(string(script), "\r", "")
	css := strings.ReplaceAll(string(style), "\r", "")
	policy := fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; img-src data: blob:; "+
		"base-uri 'none'; form-action 'none'", policyHash(js), policyHash(css))
	_, err = fmt.Fprintf(w, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>%s</title>
<style>%s</style>
</head>
<body>
<noscript><h1>%s</h1><p>%s</p>
<p>The pictures need JavaScript, which is part of this file.</p></noscript>
<script type="application/json" id="data">%s</script>
<script>%s</script>
</body>
</html>
`, policy, html.EscapeString(d.title), css, html.EscapeString(d.title),
		html.EscapeString(d.summary), data, js)
	return err
}

// policyHash is how a policy names an inline script or style.
func policyHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
