// @vitest-environment happy-dom
import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeMenu, openMenu, showMenu } from './menu';
import { MenuHost } from './menu_host';

let root: HTMLElement;
let button: HTMLButtonElement;
let ran: string[];

const focused = () => document.activeElement?.textContent;
const press = (key: string) =>
  act(() => {
    document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  });
const item = (title: string, more = {}) => ({ title, run: () => ran.push(title), ...more });

beforeEach(async () => {
  ran = [];
  root = document.createElement('div');
  button = document.createElement('button');
  document.body.append(button, root);
  button.focus();
  await act(() => render(<MenuHost />, root));
  await act(() =>
    showMenu({
      x: 0,
      y: 0,
      label: 'Frame',
      groups: [
        { title: 'Focus', items: [item('Only this'), item('Not this', { disabled: true })] },
        { items: [item('Copy'), item('Flip', { checked: true })] },
      ],
    }),
  );
});
afterEach(() => {
  openMenu.value = null;
  render(null, root);
  root.remove();
  button.remove();
});

describe('a menu', () => {
  it('has the focus, moves by arrows and letters, and passes over what is off', async () => {
    expect(focused()).toBe('Only this');
    await press('ArrowDown');
    expect(focused()).toBe('Copy');
    await press('End');
    expect(focused()).toContain('Flip');
    await press('o');
    expect(focused()).toBe('Only this');
    await press('ArrowUp');
    expect(focused()).toContain('Flip');
  });
  it('runs an entry once and gives the focus back', async () => {
    await press('ArrowDown');
    await press('Enter');
    expect(ran).toEqual(['Copy']);
    expect(root.querySelector('[role=menu]')).toBeNull();
    expect(document.activeElement).toBe(button);
  });
  it('closes with Esc without running anything', async () => {
    await press('Escape');
    expect(ran).toEqual([]);
    expect(document.activeElement).toBe(button);
  });
  it('does not run what is off', async () => {
    const off = root.querySelector<HTMLElement>('[aria-disabled=true]')!;
    await act(() => off.click());
    expect(ran).toEqual([]);
    await act(() => closeMenu());
  });
  it('says what is checked', () => {
    expect(root.querySelector('[role=menuitemcheckbox]')?.getAttribute('aria-checked')).toBe('true');
  });
});
