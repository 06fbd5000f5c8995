package topology

// OpenCluster is the opener of clusters.
var OpenCluster Opener = openCluster
