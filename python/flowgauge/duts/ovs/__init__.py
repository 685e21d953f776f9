"""Parts of the driver `ovs`: its private daemons, and one file per datapath."""
