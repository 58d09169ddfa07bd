module gpu-lab/pause

go 1.26.0
