module unwind_go_victim

go 1.19
