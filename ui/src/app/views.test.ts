import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { defaultState } from '../state/state';
import { formatState, parseState } from '../state/url';
import { menuViews, viewNames, views } from '../state/views';

const guide = readFileSync(`${import.meta.dirname}/../../../docs/guide/ui.md`, 'utf8');

describe('a view', () => {
  it('has an address that leads back to it', () => {
    for (const view of viewNames) expect(parseState(formatState({ ...defaultState, view })).view).toBe(view);
  });

  it('has a title of its own', () => {
    expect(new Set(viewNames.map((view) => views[view].title)).size).toBe(viewNames.length);
    expect(menuViews).toContain('services');
  });

  it('is in the guide', () => {
    for (const view of viewNames) expect(guide, views[view].title).toContain(`| ${views[view].title} |`);
  });
});
