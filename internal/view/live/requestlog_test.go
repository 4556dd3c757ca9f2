package live

import (
	"errors"
	"os"
	"strings"
	"testing"

	"dyno/internal/engine/reqlog"
	"dyno/internal/view/reporttest"
)

// A line has the times of a request, and is complete without what there is not.
func TestRequestLog(t *testing.T) {
	lines := []reqlog.Line{{Due: 1_500_000_000, Sent: 1_500_200_000, Ended: 1_501_000_000, Status: 200, Bytes: 5, Request: 2, Thread: 1},
		{Ended: 10_000_000, Bytes: -1, Failed: "timeout", Status: 1}}
	for json, want := range map[bool]string{
		false: "due_s,latency_us,service_us,status,bytes,request,thread,error\n1.500000,1000.0,800.0,200,5,2,1,\n0.000000,10000.0,10000.0,,,0,0,timeout\n",
		true: `{"due_s":1.500000,"latency_us":1000.0,"service_us":800.0,"status":200,"bytes":5,"request":2,"thread":1}` + "\n" +
			`{"due_s":0.000000,"latency_us":10000.0,"service_us":10000.0,"request":0,"thread":0,"error":"timeout"}` + "\n",
	} {
		var b strings.Builder
		l := NewRequestLog(&b, json)
		for _, line := range lines {
			l.Add(line)
		}
		if err := l.Flush(); err != nil || b.String() != want || l.Lines != 2 {
			t.Errorf("%q, %v, %d lines", b.String(), err, l.Lines)
		}
	}
	l := NewRequestLog(reporttest.Full{}, true)
	l.Add(lines[0])
	if err := l.Flush(); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}
