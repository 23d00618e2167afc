"""`--fabric-prove`: every fault of the lab is injected, and each must be caught at its place."""
