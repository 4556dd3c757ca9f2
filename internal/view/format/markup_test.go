package format_test

import (
	"strings"
	"testing"

	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"p99 < 20 ms & so":           "p99 &lt; 20 ms &amp; so",
		"a|b `c` *d* _e_ [f](g) ~ h": "a\\|b \\`c\\` \\*d\\* \\_e\\_ \\[f](g) \\~ h",
		`\`:                          `\\`,
		"−35 % [−45, −15] and [0.9, 1,100].":           "−35 % [−45, −15] and [0.9, 1,100].",
		"[1, 2](x) [1, x] [1,2](x) [1, 2]: y":          `\[1, 2](x) \[1, x] \[1,2](x) \[1, 2]: y`,
		`open_file_cache a_b_c _a_ a_ \_`:              `open_file_cache a_b_c \_a\_ a\_ \\\_`,
		`a__b é_ü a\_b _`:                              `a\_\_b é_ü a\\\_b \_`,
		"@everyone look":                               "`@everyone` look",
		"by (@org/team), now":                          "by (`@org/team`), now",
		"mail me@example.org.":                         "mail `me@example.org`.",
		"GET http://127.0.0.1:80/a_b?c=*d*":            "GET `http://127.0.0.1:80/a_b?c=*d*`",
		"javascript://x www.example.org WWW.x.y":       "`javascript://x` `www.example.org` `WWW.x.y`",
		"fixes #123 and org/repo#7 !5 GH-9":            "fixes `#123` and `org/repo#7` `!5` `GH-9`",
		"merged !5 ~bug ~\"to do\" %v1.2 $7 &9, g&2~3": "merged `!5` `~bug` `~\"to` do\" `%v1.2` `$7` `&9`, `g&2~3`",
		"*iteration:5 [vulnerability:1] ^alert#4":      "`*iteration:5` `[vulnerability:1]` `^alert#4`",
		"50 %, 5% (12 %) a & b $ ~ c":                  "50 %, 5% (12 %) a &amp; b $ \\~ c",
		"/close":                                       `\/close`,
		"1/close /close":                               "1/close /close",
		"http://a/x|y`z@w":                             "`http://a/x`\\|`y`\\``z@w`",
		"|@|":                                          "\\|`@`\\|",
		"<!-- @x -->":                                  "&lt;!-- `@x` -->",
		"# heading":                                    `\# heading`,
		"#no heading":                                  "#no heading",
		"> quoted":                                     `\> quoted`,
		"- item":                                       `\- item`,
		"-5 %":                                         "-5 %",
		"1. item":                                      `1\. item`,
		"1.5 ms":                                       "1.5 ms",
		"---":                                          `\---`,
		"===":                                          `\===`,
		"a\x1b]0;x\a\nb":                               "a·]0;x··b",
	} {
		if got := format.EscapeMarkdown(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// FuzzEscape holds that no word is live in what Markdown takes for text.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"@x", "a`@b`c", "``@x", "\\`@x`", "|@|`#1`|", "http://`@x", "(@x).", "(((@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out := format.EscapeMarkdown(text)
		rest, closed := reporttest.TextOfMarkdown(out)
		if !closed || format.LiveWord(rest) != "" {
			t.Errorf("%q becomes %q, of which text is %q", text, out, rest)
		}
		if strings.Contains(out, "\n") {
			t.Errorf("%q becomes %q, on two lines", text, out)
		}
	})
}

func TestField(t *testing.T) {
	for text, want := range map[string]string{"": "", "go": "go", "=cmd()": "'=cmd()", "+1": "'+1",
		"-x": "'-x", "@SUM(A1)": "'@SUM(A1)", " =cmd()": "'=cmd()", "\t=1": "'=1", "\r\n=1": "'=1",
		"a=1": "a=1", "\x00=1": "·=1", "\ufeff=1": "·=1"} {
		if got := format.CSVField(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
