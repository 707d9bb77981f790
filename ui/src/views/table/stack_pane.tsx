// The stacks as a flame graph, a table, or both beside each other.
import { FlamePane } from '../../flame/flame_pane';
import { Split } from '../../parts/split';
import { state } from '../../state/store';
import { TablePane } from './table_pane';

export function StackPane({ compare }: { compare: boolean }) {
  switch (state.value.pane) {
    case 'table':
      return <TablePane compare={compare} />;
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
