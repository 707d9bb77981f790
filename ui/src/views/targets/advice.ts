// What to do about code without names and stacks without an end, by where it is. The agent looks for names in the order
// that docs/guide/record.md has.
export function namesAdvice(binary: string, buildId: string): string {
  const file = binary.slice(binary.lastIndexOf('/') + 1);
  if (binary === '' || /^\[(anon|unknown|heap|stack|jit)/.test(binary) || binary.startsWith('//anon')) {
    return 'Code without a file, such as JIT-compiled code: have the runtime write /tmp/perf-PID.map (node --perf-basic-prof, java -XX:+DumpPerfMapAtExit).';
  }
  if (/^\[?(kernel|vmlinux)/.test(file) || file.endsWith('.ko') || file.startsWith('[kernel')) {
    return 'Give the agent CAP_SYSLOG and set the sysctl kernel.kptr_restrict to 0 or 1; vesta doctor checks it.';
  }
  if (file === '[vdso]') return 'The kernel maps this page without names; nothing needs to be done.';
  const place = buildId.length > 2 ? `/usr/lib/debug/.build-id/${buildId.slice(0, 2)}/${buildId.slice(2)}.debug` : '';
  if (/^\/(usr\/)?lib/.test(binary)) {
    return `Install the debug symbols of its package, or set DEBUGINFOD_URLS for the agent.${place ? ` Looked for at ${place}` : ''}`;
  }
  return `It was stripped: build it with its symbols kept${place ? `, or put its debug file at ${place}` : ', and with a build id'}.`;
}

export function markAdvice(mark: string): string {
  if (mark === '[truncated]') return 'Deeper than the agent walks (512 frames); often recursion.';
  if (mark.startsWith('[lost')) return 'Samples that were counted, but whose stacks were lost on the way.';
  return 'The stack could not be unwound completely; vesta doctor and the losses show why.';
}

// "stack_copy_too_short" as words
export function reasonWords(reason: string): string {
  return reason.replace(/[_-]+/g, ' ').trim();
}

// A host that sent nothing for so long is worth a look: agents send at least every minute.
export function isSilent(lastNs: number, nowMs: number): boolean {
  return nowMs - lastNs / 1e6 > 180_000;
}
