package page

import "testing"

// For tests outside of the package.
var (
	ExperimentFolder = experimentFolder
	ExperimentAt     = experimentAt
	Results          = results
	PastFolder       = pastFolder
	Swept            = swept
	ScreenedFolder   = func(t testing.TB) string { return screenedStory(t).folderOfRounds(t, 1) }
)

// ExperimentOf is the folder of a complete experiment with further variants.
func ExperimentOf(t testing.TB, rounds, seconds int, levels []string, more ...string) string {
	e := newExperimenter(t, rounds, seconds, levels)
	e.more = more
	return e.experiment()
}

// SpoiledFolder is the folder of an experiment whose verdicts must not be relied on.
func SpoiledFolder(t testing.TB) string { return spoiledStory(t, true).experiment() }
