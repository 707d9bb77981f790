// The stacks below the chart, in the pane that is chosen. The call tree is the server's, and in no exported page.
import { state } from '../../state/store';
import { ServerAnswers } from '../table/server_answers';
import { StackPane } from '../table/stack_pane';
import { TreePane } from '../tree/tree_pane';

export function Panes({ compare }: { compare: boolean }) {
  return (
    <ServerAnswers>
      {state.value.pane === 'tree' ? <TreePane compare={compare} /> : <StackPane compare={compare} />}
    </ServerAnswers>
  );
}
