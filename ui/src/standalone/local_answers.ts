// Answers from a tree that is in the page itself: what a server would filter, group, turn around and add up is done here.
import { useMemo, useState } from 'preact/hooks';
import type { AnswerHeader } from '../api/types';
import { diffRows, topRows } from '../engine/functions';
import { buildOf } from '../engine/job';
import { applySteps, regroup } from '../engine/steps';
import type { Tree } from '../engine/tree';
import type { Answers, TableData } from '../flame/answers';
import { usePaused } from '../flame/use_paused';
import type { State } from '../state/state';
import { state } from '../state/store';

// Callers of less than this share of what is looked at wait until one zooms there: all of them at once would be millions.
const leastFollowed = 1 / 20_000;
const mostOpened = 20;

const none: string[][] = [];

export function localAnswers(whole: Tree): Answers {
  let kept: { key: string; tree: Tree } | null = null;
  // Both panes look at the same: it is made once.
  const seenOf = ({ steps, group }: State): Tree => {
    const key = JSON.stringify([steps, group]);
    if (kept?.key !== key) kept = { key, tree: regroup(applySteps(whole, steps), group) };
    return kept.tree;
  };

  function useFlame() {
    const current = state.value;
    const search = usePaused(current.search, current.matching);
    const [opened, setOpened] = useState<{ shape: string; paths: string[][] }>({ shape: '', paths: none });
    const tree = seenOf(current);
    const job = {
      recursion: current.recursion,
      byWeight: current.order === 'weight',
      inverted: current.inverted,
      search: current.matching ? search : '',
      sandwich: current.sandwich,
      callers: '',
    };
    const shape = JSON.stringify([current.steps, current.group, job]);
    const paths = opened.shape === shape ? opened.paths : none;
    const built = useMemo(
      () => buildOf(tree, { ...job, extent: { least: leastFollowed, opened: paths } }),
      [shape, paths],
    );
    return {
      built,
      loading: false,
      slow: false,
      expanding: false,
      canExpand: true,
      expand: (path: string[]) => {
        const same = (other: string[]) => other.length === path.length && other.every((step, i) => step === path[i]);
        if (paths.some(same)) return;
        setOpened({ shape, paths: [...paths, path].slice(-mostOpened) });
      },
    };
  }

  function useRows<T extends AnswerHeader>(make: (tree: Tree) => object): TableData<T> {
    const tree = seenOf(state.value);
    const data = useMemo(() => ({ ...tree.header, ...make(tree) }) as unknown as T, [tree]);
    return { answer: { data, loading: false, slow: false }, data };
  }

  return {
    server: false,
    useFlame,
    useTop: () => useRows((tree) => ({ rows: topRows(tree), cut: { rows: 0, flat: 0 } })),
    useDiff: () =>
      useRows((tree) => ({
        rows: diffRows(tree),
        cut: { rows: 0, flat_delta: 0 },
        total_delta: (tree.header.total_after ?? 0) - (tree.header.total_before ?? 0),
        baseline: tree.header,
      })),
  };
}
