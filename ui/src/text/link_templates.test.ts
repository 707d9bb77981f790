import { describe, expect, it } from 'vitest';
import { fillLink } from './link_templates';

describe('links to traces', () => {
  it('carry the id', () => {
    expect(fillLink('https://traces.example/trace/{trace_id}', { trace_id: 'ab12' })).toBe(
      'https://traces.example/trace/ab12',
    );
  });
  it('quote what would change the address', () => {
    expect(fillLink('https://t.example/?id={trace_id}', { trace_id: 'a&b#c' })).toBe('https://t.example/?id=a%26b%23c');
  });
  it('are not made without the id, without a template, or to code', () => {
    expect(fillLink('https://t.example/{span_id}', { span_id: '' })).toBeUndefined();
    expect(fillLink('', { span_id: '1' })).toBeUndefined();
    expect(fillLink('javascript:alert({trace_id})', { trace_id: '1' })).toBeUndefined();
    expect(fillLink('//other.example/{trace_id}', { trace_id: '1' })).toBeUndefined();
  });
});
