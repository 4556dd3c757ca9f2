// Package page makes the pictures: a result, a search or an experiment as one HTML file that needs
// nothing else. It works from a disk, without a network, and shows what others wrote (names, URLs,
// what a server answered) as text and never as markup.
//
// The division of labour: Go knows what the numbers mean. Package payload decodes and computes,
// report and labreport make every sentence, chart every figure, once for terminal, Markdown, dyno
// chart and page. The TypeScript in web draws the figures' values and makes tables; it computes
// nothing but places on the screen.
//
// Script and data are compressed in the file, because most of a page is numbers. A short script
// unpacks them. The answer and the figures of the first screen stand in the HTML itself, so they
// are seen at once, and without scripts: on paper, and in a picture that a program takes.
//
// npm builds web into dist, which is embedded. Without it everything compiles, and what needs the
// page says how to build it.
//
//	page.go         the HTML file: template, script, data, policy
//	results.go      the pages of a run, a search, a sweep and an experiment
//
// DESIGN.md says which file of web/src does what.
package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"slices"
	"strings"

	"dyno/internal/view/chart"
	"dyno/internal/view/drawing"
	"dyno/internal/view/format"
)

//go:embed all:dist
var dist embed.FS

// Names of assets.
const (
	Script = "page.js"
	Style  = "page.css"
)

var errNotBuilt = errors.New("this dyno was built without the page; build it with " +
	"npm --prefix internal/view/page/web ci && npm --prefix internal/view/page/web run build, " +
	"and then dyno again (make build does both)")

// Asset is the page's Script or Style. The script begins with how numbers are written, which
// package format knows. The error, if they were not built, says how to.
func Asset(name string) ([]byte, error) {
	b, err := fs.ReadFile(dist, "dist/"+name)
	if err != nil {
		return nil, errNotBuilt
	}
	if name != Script {
		return b, nil
	}
	numbers, err := format.Script()
	return append(numbers, b...), err
}

// A document is a page before it is written.
type document struct {
	title   string
	summary string // the answer: there before the script runs, and without it
	payload any    // as JSON: its kind says how to show it
	views   []chart.View
}

// drawnMost is how many figures stand in the HTML itself, and drawnWidth how wide they are.
const (
	drawnMost  = 3
	drawnWidth = 520
)

// drawn are the figures of the first screen as HTML: those of the section of the first that shows
// something, of each the view that readers see first.
func (d document) drawn() (string, error) {
	var all strings.Builder
	section, had := "", []string{}
	for _, v := range d.views {
		name := cmp.Or(v.Figure, v.Name)
		if section = cmp.Or(section, v.Section); v.Empty != "" || v.Section != section ||
			slices.Contains(had, name) || len(had) == drawnMost {
			continue
		}
		had, v.About = append(had, name), "" // the title of the page says it
		all.WriteString("<figure>")
		o := drawing.Options{Form: drawing.SVG, Paged: true, Width: drawnWidth}
		if err := drawing.Write(&all, v, o); err != nil {
			return "", fmt.Errorf("drawing %s: %w", name, err)
		}
		all.WriteString("</figure>\n")
	}
	return all.String(), nil
}

// loader unpacks the page's script and data and runs the script. What it makes is an inline script,
// which the policy allows by its hash, like the loader itself. Packed, a page is a third as large.
const loader = `"use strict";
(async () => {
	const unpacked = async (id) => {
		const packed = atob(document.getElementById(id).textContent);
		const bytes = Uint8Array.from(packed, (c) => c.charCodeAt(0));
		const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
		return new Response(stream).text();
	};
	const add = (type, id, text) => {
		const e = document.createElement("script");
		if (type) e.type = type;
		if (id) e.id = id;
		e.textContent = text;
		document.head.append(e);
	};
	try {
		const [data, script] = await Promise.all([unpacked("packed-data"), unpacked("packed-script")]);
		add("application/json", "data", data);
		add("", "", script);
	} catch (problem) {
		document.getElementById("waiting").textContent = "This page cannot be shown: " + problem;
		throw problem;
	}
})();`

// writeHTML writes the document as HTML. The policy in it allows the page's own script and style,
// by their hashes, and no connection to anywhere.
func (d document) writeHTML(w io.Writer) error {
	script, err := Asset(Script)
	if err != nil {
		return err
	}
	style, err := Asset(Style)
	if err != nil {
		return err
	}
	data, err := json.Marshal(d.payload)
	if err != nil {
		return fmt.Errorf("writing the page's data: %w", err)
	}
	// A browser reads CRLF as LF, and hashes what it read.
	js := strings.ReplaceAll(string(script), "\r", "")
	css := strings.ReplaceAll(string(style), "\r", "")
	packedData, err := pack(data)
	packedScript, more := pack([]byte(js))
	if err = errors.Join(err, more); err != nil {
		return fmt.Errorf("packing the page: %w", err)
	}
	drawn, err := d.drawn()
	if err != nil {
		return err
	}
	policy := fmt.Sprintf("default-src 'none'; script-src %s %s; style-src %s; img-src data: blob:; "+
		"base-uri 'none'; form-action 'none'", policyHash(loader), policyHash(js), policyHash(css))
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
<header><h1>%s</h1></header>
<p class="sentence" id="waiting">%s</p>
<div class="drawn">%s</div>
<noscript><p>The rest needs JavaScript, which is part of this file.</p></noscript>
<script type="application/gzip" id="packed-data">%s</script>
<script type="application/gzip" id="packed-script">%s</script>
<script>%s</script>
</body>
</html>
`, policy, html.EscapeString(d.title), css, html.EscapeString(d.title),
		html.EscapeString(d.summary), drawn, packedData, packedScript, loader)
	return err
}

// Served is a page as a dashboard shows it: its script puts the dashboard's bar above it, as long
// as it comes from that origin. at is JSON that the script knows.
func Served(page []byte, at string) []byte {
	const title = "<title>"
	return bytes.Replace(page, []byte(title),
		fmt.Appendf(nil, `<meta name="dyno-served" content="%s">`+"\n"+title, html.EscapeString(at)), 1)
}

// pack compresses bytes, and writes them as text that can stand in an HTML element.
func pack(b []byte) (string, error) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err = z.Write(b); err == nil {
		err = z.Close()
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), err
}

// Data is the JSON that a page of this package draws.
func Data(page []byte) ([]byte, error) {
	_, rest, found := bytes.Cut(page, []byte(`<script type="application/gzip" id="packed-data">`))
	text, _, ended := bytes.Cut(rest, []byte("</script>"))
	if !found || !ended {
		return nil, errors.New("the page has no data")
	}
	packed, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return nil, fmt.Errorf("reading the page's data: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpacking the page's data: %w", err)
	}
	return io.ReadAll(z)
}

// policyHash is how a policy names an inline script or style.
func policyHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
