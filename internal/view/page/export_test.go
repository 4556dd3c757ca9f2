package page

// For tests outside of the package.
var (
	ExperimentFolder = experimentFolder
	ExperimentAt     = experimentAt
	Results          = results
)
