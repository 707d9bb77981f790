// Why samples or parts of stacks are missing, in words for somebody who did not write the agent.
const explanations: [RegExp, string][] = [
  [
    /ring full/,
    'samples came faster than the agent could read them; lower the sampling rate or give the agent more CPU',
  ],
  [/no scratch memory/, 'the kernel had no free buffer at that moment'],
  [/symbolization too slow/, 'symbolization could not keep up with the samples'],
  [/queue full/, 'the server was unreachable for longer than the agent can buffer profiles'],
  [/damaged record/, 'the kernel delivered a damaged record'],
  [
    /more than \d+ frames|stack truncated|depth/,
    'the stack is deeper than what is recorded; its outermost frames are missing',
  ],
  [
    /unwind table not loaded|no unwind rule|unsupported kind/,
    'the code has no usable unwind information; frame pointers or .eh_frame would help',
  ],
  [
    /mappings of the process unknown|address outside/,
    'the process had just started, or runs code that is not backed by a file',
  ],
  [/stack memory not readable|invalid stack|deeper than the copy/, 'the stack could not be unwound completely'],
  [/lost by perf/, 'perf reported these samples as lost'],
  [/invalid UTF-8/, 'names contained invalid UTF-8, which was replaced'],
];

export function explainLoss(reason: string): string {
  return explanations.find(([pattern]) => pattern.test(reason))?.[1] ?? 'reported by the tool that made the profile';
}
