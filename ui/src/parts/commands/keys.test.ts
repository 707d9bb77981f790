import { describe, expect, it } from 'vitest';
import { groupCommands } from './command_groups';
import type { Command } from './commands';
import { commandFor, type KeyPress, keyLabel, keyMatches, takesText } from './keys';

const press = (key: string, held: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});

describe('keys', () => {
  it('tell small letters from capitals by Shift', () => {
    expect(keyMatches('n', press('n'))).toBe(true);
    expect(keyMatches('n', press('N', { shiftKey: true }))).toBe(false);
    expect(keyMatches('Shift+N', press('N', { shiftKey: true }))).toBe(true);
    expect(keyMatches('N', press('N', { shiftKey: true }))).toBe(true);
  });
  it('do not mind Caps Lock', () => {
    expect(keyMatches('i', press('I'))).toBe(true);
  });
  it('take Command for Ctrl', () => {
    expect(keyMatches('Ctrl+K', press('k', { metaKey: true }))).toBe(true);
    expect(keyMatches('Ctrl+K', press('k', { ctrlKey: true }))).toBe(true);
    expect(keyMatches('Ctrl+K', press('k'))).toBe(false);
    expect(keyMatches('k', press('k', { ctrlKey: true }))).toBe(false);
  });
  it('find signs on any keyboard', () => {
    expect(keyMatches('?', press('?', { shiftKey: true }))).toBe(true);
    expect(keyMatches('/', press('/', { shiftKey: true }))).toBe(true);
    expect(keyMatches('+', press('+'))).toBe(true);
    expect(keyMatches('Ctrl++', press('+', { ctrlKey: true }))).toBe(true);
  });
  it('are shown as printed', () => {
    expect(['ArrowUp', 'Alt+ArrowLeft', 'Escape', '+', 'Ctrl++', 'Ctrl+K'].map(keyLabel)).toEqual([
      '↑',
      'Alt+←',
      'Esc',
      '+',
      'Ctrl++',
      'Ctrl+K',
    ]);
  });
  it('have names', () => {
    expect(keyMatches('Escape', press('Escape'))).toBe(true);
    expect(keyMatches('Alt+ArrowLeft', press('ArrowLeft', { altKey: true }))).toBe(true);
    expect(keyMatches('ArrowLeft', press('ArrowLeft', { altKey: true }))).toBe(false);
  });
});

describe('the key handler', () => {
  const command = (id: string, keys: string[], enabled = true): Command => ({
    id,
    title: id,
    group: '',
    keys,
    run() {},
    enabled: () => enabled,
  });
  it('leaves letters to text fields', () => {
    const list = [command('a', ['t']), command('b', ['Ctrl+K'])];
    expect(commandFor(press('t'), list, true)).toBeUndefined();
    expect(commandFor(press('t'), list, false)?.id).toBe('a');
    expect(commandFor(press('k', { ctrlKey: true }), list, true)?.id).toBe('b');
  });
  it('prefers the newest command that can run', () => {
    const list = [command('old', ['t']), command('new', ['t']), command('off', ['t'], false)];
    expect(commandFor(press('t'), list, false)?.id).toBe('new');
  });
  it('knows what takes text', () => {
    expect(takesText({ tagName: 'INPUT', type: 'search' })).toBe(true);
    expect(takesText({ tagName: 'INPUT', type: 'checkbox' })).toBe(false);
    expect(takesText({ tagName: 'SELECT' })).toBe(true);
    expect(takesText({ tagName: 'DIV', isContentEditable: true })).toBe(true);
    expect(takesText({ tagName: 'BUTTON' })).toBe(false);
    expect(takesText(null)).toBe(false);
  });
});

describe('the help', () => {
  it('has what is on screen before what is always there, and keys before the rest', () => {
    const command = (group: string, title: string, keys?: string[]): Command => ({
      id: title,
      title,
      group,
      keys,
      run() {},
    });
    const groups = groupCommands([
      command('General', 'Help', ['?']),
      command('Flame graph', 'Flip'),
      command('Flame graph', 'Invert', ['i']),
    ]);
    expect(groups.map(([name, list]) => [name, list.map(({ title }) => title)])).toEqual([
      ['Flame graph', ['Invert', 'Flip']],
      ['General', ['Help']],
    ]);
  });
});
