package page

import "testing"

// For tests outside of the package.
var (
	ExperimentFolder = experimentFolder
	ExperimentAt     = experimentAt
	Results          = results
	ScreenedFolder   = func(t testing.TB) string { return screenedStory(t).folderOfRounds(t, 1) }
)
