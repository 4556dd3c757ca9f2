package net

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	fewNumbers = 6   // a list of more has a digest
	shortText  = 160 // a text that is longer has a digest, and stands once in texts.golden
)

// manyReadings is the path of lists of readings, one for each trial, which fill most of a page.
const manyReadings = ".panels.trials"

// longTexts are the texts that were abridged; true: in words.
var longTexts sync.Map

func digest(b []byte) string { return fmt.Sprintf("#%x", sha256.Sum256(b))[:9] }

// digested is a text as its number of lines, the first, and a digest.
func digested(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return fmt.Sprintf("%d lines, %s %s\n", strings.Count(text, "\n"), first, digest([]byte(text)))
}

// lines are the values of a JSON text, each with its path.
func lines(text []byte) string {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	var b strings.Builder
	flatten(&b, "", v)
	return b.String()
}

func flatten(b *strings.Builder, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			flatten(b, path+"."+key, v[key])
		}
		if len(v) == 0 {
			fmt.Fprintf(b, "%s {}\n", path)
		}
		return
	case []any:
		if !isNumeric(v) {
			if row := texts(v); row != "" && path != ".words.facts" {
				fmt.Fprintf(b, "%s %s\n", path, row)
				return
			}
			for i, item := range v {
				at := fmt.Sprintf("%s[%d]", path, i)
				if i > 0 && path == manyReadings {
					text, _ := json.Marshal(item)
					fmt.Fprintf(b, "%s %d bytes %s\n", at, len(text), digest(text))
					continue
				}
				flatten(b, at, item)
			}
			return
		}
	}
	fmt.Fprintf(b, "%s %s\n", path, value(v))
}

// texts are those of cells of a table, with the names that they have; "" of anything else.
func texts(v []any) string {
	var all []string
	for _, item := range v {
		c, is := item.(map[string]any)
		text, has := c["text"].(string)
		if !is || !has {
			return ""
		}
		name, _ := c["name"].(string)
		all = append(all, strings.TrimSpace(name+" "+text))
	}
	return strings.Join(all, " | ")
}

// isNumeric reports whether a value is a number, null, or a list of such.
func isNumeric(v any) bool {
	switch v := v.(type) {
	case json.Number, nil:
		return true
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !isNumeric(item) })
	}
	return false
}

// value is a value on one line, a long one abridged.
func value(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	switch v := v.(type) {
	case []any:
		if len(v) > fewNumbers {
			return fmt.Sprintf("%d: %s … %s %s", len(v), value(v[0]), value(v[len(v)-1]), digest(b))
		}
	case string:
		if len(v) > shortText {
			longTexts.Store(v, strings.Contains(v, " "))
			return fmt.Sprintf("%.24q… %d bytes %s", v, len(v), digest(b))
		}
	}
	return string(b)
}

// changed are the values of one JSON text that another has not, behind a minus, and those that only
// the other has, behind a plus.
func changed(from, to []byte) string {
	was, is := strings.SplitAfter(lines(from), "\n"), strings.SplitAfter(lines(to), "\n")
	in := func(all []string) map[string]bool {
		set := map[string]bool{}
		for _, line := range all {
			set[line] = true
		}
		return set
	}
	before, after := in(was), in(is)
	var b strings.Builder
	for _, line := range was {
		if !after[line] {
			b.WriteString("-" + line)
		}
	}
	for _, line := range is {
		if !before[line] {
			b.WriteString("+" + line)
		}
	}
	return b.String()
}

var textInSVG = regexp.MustCompile(`<text[^>]*>([^<]*)</text>`)

// drawn is a picture as its texts and a digest. Of a long text that an earlier one had, as the line
// below the title, there is an ellipsis.
func drawn(svg []byte, had map[string]bool) string {
	var all []string
	for _, found := range textInSVG.FindAllSubmatch(svg, -1) {
		text := string(found[1])
		if had[text] && len(text) > len("latency over time") {
			text = "…"
		}
		had[string(found[1])] = true
		all = append(all, text)
	}
	return fmt.Sprintf("  %s\n  %s\n", cmp.Or(strings.Join(all, " | "), "no text"), digest(svg))
}
