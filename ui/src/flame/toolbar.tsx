// Controls of the flame graph: search on the left, what is shown in the middle, the rest in a menu.
import type { RefObject } from 'preact';
import { useAnswer } from '../api/answer';
import { askJson } from '../api/client';
import { sourceParameters } from '../api/parameters';
import { wholeOf } from '../engine/info';
import { type MenuGroup, showMenu } from '../parts/menu';
import { hasPreset, presets, togglePreset } from '../parts/steps_bar';
import type { ColorBy, GroupBy } from '../state/state';
import { amend, go, state } from '../state/store';
import { formatCount, formatShare } from '../text/format';
import { visibleText } from '../text/safe';
import { useAnswers } from './answers';
import type { Seen } from './look';

export const budgets = [0, 250_000, 500_000, 1_000_000];
export const colors: [ColorBy, string][] = [
  ['auto', 'Automatic'],
  ['binary', 'Binary'],
  ['kind', 'Kind'],
  ['package', 'Package'],
  ['file', 'File'],
  ['self', 'Self share'],
  ['state', 'State'],
];
const groups: [GroupBy, string][] = [
  ['function', 'Function'],
  ['line', 'Line'],
  ['file', 'File'],
  ['binary', 'Binary'],
];

export interface SearchHandle {
  next(by: number): void;
  list(): void;
}

function SearchBox({
  seen,
  box,
  search,
}: {
  seen: Seen | null;
  box: RefObject<HTMLInputElement | null>;
  search: SearchHandle;
}) {
  const current = state.value;
  const bad = seen?.match.error ?? '';
  const found = seen?.found ?? null;
  const text = bad
    ? 'invalid regular expression'
    : found
      ? found.count === 0
        ? 'no match'
        : `${formatShare(found.weight, wholeOf(seen!.graph))} in ${formatCount(found.count)}`
      : '';
  return (
    <search class="flame-search">
      <input
        ref={box}
        type="search"
        value={current.search}
        placeholder="Search  /regex/i"
        aria-label="Search frames: text, or /regex/"
        aria-invalid={bad ? true : undefined}
        aria-describedby="flame-found"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => amend({ search: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            event.preventDefault();
            search.next(event.shiftKey ? -1 : 1);
          } else if (event.key === 'Escape') {
            event.preventDefault();
            event.stopPropagation();
            if (current.search) amend({ search: '', matching: false });
            else event.currentTarget.blur();
          }
        }}
      />
      <span id="flame-found" class="flame-found" role="status" title={bad || undefined}>
        {text}
      </span>
      {found && found.count > 0 && (
        <>
          <button type="button" aria-label="Previous match" title="Previous match (N)" onClick={() => search.next(-1)}>
            ‹
          </button>
          <button type="button" aria-label="Next match" title="Next match (n)" onClick={() => search.next(1)}>
            ›
          </button>
          <button type="button" onClick={() => search.list()} aria-haspopup="dialog">
            List
          </button>
        </>
      )}
      {current.search !== '' && !bad && (
        <button
          type="button"
          aria-pressed={current.matching}
          onClick={() => go({ matching: !current.matching, zoom: [] })}
        >
          Only matching
        </button>
      )}
    </search>
  );
}

function Choice<T extends string>(props: {
  name: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChoose(value: T): void;
  disabled?: boolean;
}) {
  return (
    <label class="flame-choice">
      <span>{props.name}</span>
      <select
        value={props.value}
        disabled={props.disabled}
        onChange={(event) => props.onChoose(event.currentTarget.value as T)}
      >
        {props.options.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function RootChoice() {
  const { source, root } = state.value;
  const parameters = sourceParameters(source);
  const answer = useAnswer(source.query || source.file ? `labels?${parameters}` : null, (signal) =>
    askJson<{ labels: string[] }>('labels', parameters, signal),
  );
  const labels = (answer.data?.labels ?? []).filter((label) => !label.startsWith('__'));
  // What a link names is offered even when the list is not there.
  const all = root && !labels.includes(root) ? [root, ...labels] : labels;
  return (
    <Choice
      name="Root"
      value={root}
      options={[['', 'None'], ...all.map((label) => [label, visibleText(label)] as const)]}
      onChoose={(value) => go({ root: value, zoom: [] })}
    />
  );
}

function moreMenu(compare: boolean, server: boolean): MenuGroup[] {
  const { order, flip, shorten, nodes, scale } = state.value;
  const scales: MenuGroup = {
    title: 'Compare',
    items: [
      { title: 'Weights as they are', checked: scale === 'absolute', run: () => go({ scale: 'absolute' }) },
      {
        title: 'Shares: both totals made equal',
        checked: scale === 'normalized',
        run: () => go({ scale: 'normalized' }),
      },
    ],
  };
  return [
    ...(compare && server ? [scales] : []),
    {
      title: 'Children',
      items: [
        { title: 'By name', checked: order === 'name', run: () => go({ order: 'name' }) },
        { title: 'By weight', checked: order === 'weight', run: () => go({ order: 'weight' }) },
      ],
    },
    {
      title: 'Layout',
      items: [
        { title: 'Root at the top', checked: !flip, run: () => go({ flip: false }) },
        { title: 'Root at the bottom', checked: flip, run: () => go({ flip: true }) },
        { title: 'Short names', checked: shorten, run: () => go({ shorten: !shorten }) },
      ],
    },
    {
      title: 'Filters',
      items: presets.map((preset) => ({
        title: preset.title,
        checked: hasPreset(preset),
        run: () => togglePreset(preset),
      })),
    },
    ...(server
      ? [
          {
            title: 'Nodes at most',
            items: budgets.map((budget) => ({
              title: budget === 0 ? '100,000 (default)' : formatCount(budget),
              checked: nodes === budget,
              run: () => go({ nodes: budget }),
            })),
          },
        ]
      : []),
  ];
}

export function Toolbar(props: {
  seen: Seen | null;
  compare: boolean;
  box: RefObject<HTMLInputElement | null>;
  search: SearchHandle;
}) {
  const current = state.value;
  const { server } = useAnswers();
  return (
    <div class="flame-tools">
      <SearchBox seen={props.seen} box={props.box} search={props.search} />
      <div class="flame-toggles">
        <button
          type="button"
          aria-pressed={current.inverted}
          title="From the functions that ran up to their callers (i)"
          onClick={() => go({ inverted: !current.inverted, zoom: [] })}
        >
          Inverted
        </button>
        <button
          type="button"
          aria-pressed={current.recursion}
          title="Direct recursion as one frame (r)"
          onClick={() => go({ recursion: !current.recursion, zoom: [] })}
        >
          Recursion
        </button>
        <Choice
          name="Group"
          value={current.group}
          options={server ? groups : groups.filter(([group]) => group !== 'line')}
          onChoose={(group) => go({ group, zoom: [], sandwich: '' })}
        />
        {server && <RootChoice />}
        {!props.compare && (
          <Choice
            name="Colour"
            value={current.color}
            options={colors}
            onChoose={(color) => go({ color, isolate: '' })}
          />
        )}
        <button
          type="button"
          aria-haspopup="menu"
          onClick={(event) => {
            const box = event.currentTarget.getBoundingClientRect();
            showMenu({
              x: box.left,
              y: box.bottom + 2,
              label: 'More of the flame graph',
              groups: moreMenu(props.compare, server),
            });
          }}
        >
          More ▾
        </button>
      </div>
    </div>
  );
}
