package probe

import (
	"math"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What /proc/stat counts adds up to the time that passed on all CPUs.
func TestStatAddsUp(t *testing.T) {
	h, err := newLinuxHost(newScratch(), newNotes())
	if err != nil {
		t.Fatal(err)
	}
	defer h.closeFiles()
	read := func() (sum, part, before, after float64) {
		row := newNaNs(len(h.hostSources()[0].columns))
		before = readClock(unix.CLOCK_MONOTONIC)
		h.readStat(row)
		after = readClock(unix.CLOCK_MONOTONIC)
		return growth(row[:len(cpuColumns)], atBoot), math.Mod(row[0]+row[1], tick), before, after
	}
	read()
	first, _, early, late := read()
	for began := time.Now(); time.Since(began) < 300*time.Millisecond; { // so that there is work
	}
	sum, part, before, after := read()
	least := float64(h.cpus)*(before-late) - 2*roundedBy
	most := float64(h.cpus)*(after-early) + 2*roundedBy
	if grown := sum - first; grown < least || grown > most {
		t.Errorf("%v passed on %d CPUs, not %v to %v", grown, h.cpus, least, most)
	}
	if part == 0 {
		t.Error("user and system time are whole ticks, as the kernel's own")
	}
}
