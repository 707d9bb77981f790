// Burns CPU in a method, called from a goroutine, until it is killed.
package main

type mixer struct{ x uint64 }

//go:noinline
func (m *mixer) step() {
	for i := 0; i < 1_000_000; i++ {
		m.x = m.x*6364136223846793005 + 1
	}
}

func work() {
	m := &mixer{1}
	for {
		m.step()
	}
}

func main() {
	go work()
	select {}
}
