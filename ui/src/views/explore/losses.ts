// Why samples or parts of stacks are missing, in words for somebody who did not write the agent.
const explanations: [RegExp, string][] = [
  [/ring full/, 'samples came faster than the agent could read them; a lower rate or more CPU for the agent helps'],
  [/no scratch memory/, 'the kernel had no free buffer at that moment'],
  [/naming too slow/, 'finding names took longer than the samples could wait'],
  [/queue full/, 'the server was away for longer than the agent can keep profiles'],
  [/damaged record/, 'what the kernel delivered made no sense'],
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
    'the process was too young, or runs code from memory that no file backs',
  ],
  [
    /stack memory not readable|stack makes no sense|deeper than what was copied/,
    'the stack could not be followed to its end',
  ],
  [/lost by perf/, 'perf itself says that it lost these'],
  [/invalid UTF-8/, 'names had bytes that are no text, and were mended'],
];

export function explainLoss(reason: string): string {
  return explanations.find(([pattern]) => pattern.test(reason))?.[1] ?? 'counted by whoever made the profile';
}
