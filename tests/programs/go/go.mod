module vesta.example/burn

go 1.19
