// The stacks below the chart: as a flame graph, a table, a tree, or two of them beside each other.
import { FlamePane } from '../../flame/flame_pane';
import { Split } from '../../parts/split';
import type { Pane } from '../../state/state';
import { go, state } from '../../state/store';
import { TablePane } from '../table/table_pane';
import { TreePane } from '../tree/tree_pane';

const panes: [Pane, string][] = [
  ['flame', 'Flame graph'],
  ['table', 'Table'],
  ['tree', 'Call tree'],
  ['both', 'Both'],
];

export function PaneSwitch() {
  const { pane } = state.value;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame and a legend
    <div class="explore-switch" role="group" aria-label="Show the stacks as">
      {panes.map(([name, title], index) => (
        <button
          key={name}
          type="button"
          aria-pressed={pane === name}
          title={`${title} (${index + 1})`}
          onClick={() => go({ pane: name })}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

export function Panes({ compare }: { compare: boolean }) {
  switch (state.value.pane) {
    case 'table':
      return <TablePane compare={compare} />;
    case 'tree':
      return <TreePane compare={compare} />;
    case 'both':
      return (
        <Split
          name="panes"
          label="Width of the flame graph"
          first={<FlamePane compare={compare} />}
          second={<TablePane compare={compare} />}
        />
      );
    default:
      return <FlamePane compare={compare} />;
  }
}
