// Burns CPU in a generic method until it is killed.
use std::hint::black_box;

struct Mixer<T>(T);

trait Step {
    fn step(&mut self);
}

impl Step for Mixer<u64> {
    #[inline(never)]
    fn step(&mut self) {
        for _ in 0..1_000_000u32 {
            self.0 = black_box(self.0.wrapping_mul(6364136223846793005).wrapping_add(1));
        }
    }
}

fn main() {
    let mut mixer = Mixer(1);
    loop {
        mixer.step();
    }
}
