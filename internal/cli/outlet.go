package cli

import (
	"fmt"
	"io"
	"strings"

	"dyno/internal/view/report"
)

// An outlet is stdout or stderr. All that dyno says may have words in it that a server, a
// certificate, an archive or an agent has chosen: they come out as they are, but for what a
// terminal would obey, which is shown. Such words come into messages in many places, one of which
// would be forgotten; here is the one place that all of them pass. Each Write has whole characters.
type outlet struct {
	to    io.Writer
	paint report.Paint // of which dyno's own colours are made
}

func (o outlet) Write(b []byte) (int, error) {
	if _, err := o.to.Write(report.Visible(b, o.paint)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// newOutlets are the streams of a program, with outlets for all that is said.
func newOutlets(stdin io.Reader, stdout, stderr io.Writer) streams {
	var paint report.Paint
	if isTerminal(stdout) && wantsColor() {
		paint = report.NewPaint()
	}
	return streams{stdin, outlet{stdout, paint}, outlet{stderr, ""}}
}

// behindOutlet is the stream behind an outlet. What is written there has no words of others, or
// is none for people; a test has the list of who may do so.
func behindOutlet(stream any) any {
	if o, is := stream.(outlet); is {
		return o.to
	}
	return stream
}

// pastOutlet is past of what is written to.
func pastOutlet(w io.Writer) io.Writer { return behindOutlet(w).(io.Writer) }

// writeLine writes a line to stderr, and never two: another might have chosen the second.
func (s streams) writeLine(format string, args ...any) {
	fmt.Fprintln(s.err, oneLine(fmt.Sprintf(format, args...)))
}

// oneLine is text on a line, in which no other can be forged.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), " | ")
}
