// @vitest-environment happy-dom
import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { defaultSource, type Source } from '../state/state';
import { SelectorBar } from './selector_bar';

const lists: Record<string, object> = {
  types: {
    types: [
      { id: 'process_cpu:cpu:nanoseconds:cpu:nanoseconds', name: 'process_cpu', type: 'cpu', unit: 'nanoseconds' },
    ],
  },
  labels: { labels: ['pod', 'service_name'] },
  'values/pod': { label: 'pod', values: ['web-1', '<b>web</b>'], truncated: false },
};
let root: HTMLElement;
let chosen: Source[];

async function until(condition: () => boolean) {
  await vi.waitFor(async () => {
    await act(() => {});
    expect(condition()).toBe(true);
  });
}

async function show(query: string) {
  await act(() =>
    render(
      <SelectorBar source={{ ...defaultSource, query }} onChange={(next) => chosen.push(next)} label="Selector" />,
      root,
    ),
  );
}
const field = () => root.querySelector('input')!;
const options = () => [...root.querySelectorAll('[role=option]')];
const press = (key: string) =>
  act(() => {
    field().dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  });
async function type(text: string, cursor = text.length) {
  field().focus();
  field().value = text;
  field().setSelectionRange(cursor, cursor);
  await act(() => {
    field().dispatchEvent(new Event('input', { bubbles: true }));
  });
}
const offered = () => options().map((option) => option.textContent);

beforeEach(() => {
  chosen = [];
  root = document.createElement('div');
  document.body.append(root);
  vi.stubGlobal('fetch', async (address: string) => {
    const path = decodeURIComponent(address)
      .replace(/^.*api\/v1\//, '')
      .replace(/\?.*/, '');
    if (address.includes('wrong')) {
      const body = { code: 'invalid_argument', message: 'selector, column 5: expected a value' };
      return new Response(JSON.stringify(body), { status: 400 });
    }
    return new Response(JSON.stringify(lists[path] ?? {}), { status: 200 });
  });
});
afterEach(() => {
  render(null, root);
  root.remove();
  vi.unstubAllGlobals();
});

describe('the selector field', () => {
  it('offers, takes the choice, and applies with Enter', async () => {
    await show('cpu{}');
    await type('cpu{po}', 6);
    await until(() => offered().join() === 'pod');
    await press('ArrowDown');
    expect(field().getAttribute('aria-activedescendant')).toBe(options()[0].id);
    await press('Enter');
    expect(field().value).toBe('cpu{pod=""}');
    expect(chosen).toEqual([]);
    await until(() => offered().join() === 'web-1,<b>web</b>');
    await press('ArrowDown');
    await press('Enter');
    await press('Enter');
    expect(chosen.map(({ query }) => query)).toEqual(['cpu{pod="web-1"}']);
  });
  it('shows values as text', async () => {
    await show('cpu{}');
    await type('cpu{pod="<"}', 10);
    await until(() => offered().includes('<b>web</b>'));
    expect(root.querySelector('[role=option] b')).toBeNull();
  });
  it('takes back with Esc', async () => {
    await show('cpu{}');
    await type('c');
    await until(() => offered().includes('cpucpu, nanoseconds'));
    await press('Escape');
    expect(field().value).toBe('c');
    await press('Escape');
    expect(field().value).toBe('cpu{}');
    expect(chosen).toEqual([]);
  });
  it('marks where the server found an error', async () => {
    await show('cpu{wrong}');
    await until(() => field().getAttribute('aria-invalid') === 'true');
    expect(root.querySelector('[role=alert]')?.textContent).toContain('expected a value');
    expect(root.querySelector<HTMLElement>('.selector-marks span')?.style.left).toContain('4ch');
  });
  it('turns matchers round and removes them', async () => {
    await show('cpu{pod="a", zone="b"}');
    const buttons = [...root.querySelectorAll<HTMLButtonElement>('.selector-chip button')];
    await act(() => buttons[0].click());
    await act(() => buttons[3].click());
    expect(chosen.map(({ query }) => query)).toEqual(['cpu{pod!="a", zone="b"}', 'cpu{pod="a"}']);
  });
});
