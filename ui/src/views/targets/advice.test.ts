import { describe, expect, it } from 'vitest';
import { isSilent, markAdvice, namesAdvice, reasonWords } from './advice';

describe('advice on code without names', () => {
  it('says where the debug file of a binary belongs', () => {
    expect(namesAdvice('/opt/app/server', 'ab12cd')).toContain('/usr/lib/debug/.build-id/ab/12cd.debug');
    expect(namesAdvice('/opt/app/server', '')).toContain('build id');
  });
  it('is about packages for libraries of the system', () => {
    expect(namesAdvice('/usr/lib/x86_64-linux-gnu/libc.so.6', 'ab12')).toMatch(/package.*DEBUGINFOD_URLS/);
  });
  it('knows the kernel and code that no file has', () => {
    expect(namesAdvice('[kernel]', '')).toContain('CAP_SYSLOG');
    expect(namesAdvice('', '')).toContain('perf-PID.map');
    expect(namesAdvice('[vdso]', '')).toContain('nothing needs');
  });
  it('explains marks and reasons', () => {
    expect(markAdvice('[truncated]')).toContain('512');
    expect(reasonWords('stack_copy-too_short')).toBe('stack copy too short');
  });
});

describe('a host', () => {
  it('is silent after three minutes', () => {
    expect(isSilent(0, 181_000)).toBe(true);
    expect(isSilent(0, 60_000)).toBe(false);
  });
});
