// Generated from src/profile/profile_types.cc; VESTA_UPDATE=1 scripts/test -R '^profile$' writes it.
export interface ProfileTypeInfo {
  word: string; // what people type; empty for a type without a short word
  family: string;
  type: string;
  unit: string;
  instant: boolean;
  rate: string; // what a second of it per second is called; empty for s/s
}

export const profileTypes: readonly ProfileTypeInfo[] = [
  { word: 'cpu', family: 'process_cpu', type: 'cpu', unit: 'nanoseconds', instant: false, rate: 'cores' },
  { word: 'cpu', family: 'process_cpu', type: 'samples', unit: 'count', instant: false, rate: '' },
  { word: 'off-cpu', family: 'off_cpu', type: 'off_cpu', unit: 'nanoseconds', instant: false, rate: '' },
  { word: 'off-cpu', family: 'off_cpu', type: 'offcpu', unit: 'nanoseconds', instant: false, rate: '' },
  { word: 'off-cpu', family: 'off_cpu', type: 'off-cpu', unit: 'nanoseconds', instant: false, rate: '' },
  { word: 'off-cpu', family: 'off_cpu', type: 'waits', unit: 'count', instant: false, rate: '' },
  { word: 'off-cpu-waker', family: 'off_cpu_waker', type: 'woken_time', unit: 'nanoseconds', instant: false, rate: '' },
  { word: 'off-cpu-waker', family: 'off_cpu_waker', type: 'woken_waits', unit: 'count', instant: false, rate: '' },
  { word: 'wall', family: 'wall', type: 'wall', unit: 'nanoseconds', instant: false, rate: '' },
  { word: 'wall', family: 'wall', type: 'wall_samples', unit: 'count', instant: false, rate: '' },
  { word: 'alloc', family: 'memory', type: 'alloc_space', unit: 'bytes', instant: false, rate: '' },
  { word: 'alloc', family: 'memory', type: 'alloc_sample_bytes', unit: 'bytes', instant: false, rate: '' },
  { word: 'alloc', family: 'memory', type: 'alloc_in_new_tlab_bytes', unit: 'bytes', instant: false, rate: '' },
  { word: 'alloc', family: 'memory', type: 'alloc_bytes', unit: 'bytes', instant: false, rate: '' },
  { word: 'alloc', family: 'memory', type: 'malloc_bytes', unit: 'bytes', instant: false, rate: '' },
  { word: 'alloc', family: 'memory', type: 'space', unit: 'bytes', instant: false, rate: '' },
  { word: 'inuse', family: 'memory', type: 'inuse_space', unit: 'bytes', instant: true, rate: '' },
  { word: 'inuse', family: 'memory', type: 'inuse_bytes', unit: 'bytes', instant: true, rate: '' },
  { word: 'inuse', family: 'memory', type: 'live_bytes', unit: 'bytes', instant: true, rate: '' },
  { word: 'inuse', family: 'memory', type: 'live', unit: 'count', instant: true, rate: '' },
  { word: 'mutex', family: 'mutex', type: 'delay', unit: 'nanoseconds', instant: false, rate: '' },
  { word: 'mutex', family: 'mutex', type: 'mutex_duration', unit: 'nanoseconds', instant: false, rate: '' },
  { word: 'mutex', family: 'mutex', type: 'lock_time', unit: 'nanoseconds', instant: false, rate: '' },
  { word: 'mutex', family: 'mutex', type: 'contentions', unit: 'count', instant: false, rate: '' },
  { word: 'mutex', family: 'mutex', type: 'mutex_count', unit: 'count', instant: false, rate: '' },
  { word: 'mutex-holder', family: 'mutex_holder', type: 'holder_delay', unit: 'nanoseconds', instant: false, rate: '' },
  { word: 'mutex-holder', family: 'mutex_holder', type: 'holder_contentions', unit: 'count', instant: false, rate: '' },
  { word: 'block', family: 'block', type: 'delay', unit: 'nanoseconds', instant: false, rate: '' },
  { word: 'block', family: 'block', type: 'block_duration', unit: 'nanoseconds', instant: false, rate: '' },
  { word: 'block', family: 'block', type: 'contentions', unit: 'count', instant: false, rate: '' },
  { word: 'block', family: 'block', type: 'block_count', unit: 'count', instant: false, rate: '' },
  { word: 'goroutine', family: 'goroutine', type: 'goroutine', unit: 'count', instant: true, rate: '' },
  { word: 'goroutine', family: 'goroutine', type: 'goroutines', unit: 'count', instant: true, rate: '' },
  { word: '', family: 'memory', type: 'alloc_objects', unit: 'count', instant: false, rate: '' },
  { word: '', family: 'memory', type: 'alloc_in_new_tlab_objects', unit: 'count', instant: false, rate: '' },
  { word: '', family: 'memory', type: 'alloc_outside_tlab_objects', unit: 'count', instant: false, rate: '' },
  { word: '', family: 'memory', type: 'alloc_outside_tlab_bytes', unit: 'bytes', instant: false, rate: '' },
  { word: '', family: 'memory', type: 'inuse_objects', unit: 'count', instant: true, rate: '' },
  { word: '', family: 'memory', type: 'inuse', unit: 'bytes', instant: true, rate: '' },
  { word: '', family: 'memory', type: 'heap_size', unit: 'bytes', instant: true, rate: '' },
  { word: '', family: 'memory', type: 'samples', unit: 'bytes', instant: false, rate: '' },
  { word: '', family: 'old_objects', type: 'live_objects', unit: 'count', instant: true, rate: '' },
  { word: '', family: 'threadcreate', type: 'threadcreate', unit: 'count', instant: true, rate: '' },
  { word: '', family: 'exceptions', type: 'samples', unit: 'count', instant: false, rate: '' },
];
