// How the stacks are shown, as a row of buttons.
import { go, state } from '../state/store';
import { type Pane, paneNames, panes } from '../state/views';
import './pane_switch.css';

export function PaneSwitch({ offered = paneNames }: { offered?: readonly Pane[] }) {
  const { pane } = state.value;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame and a legend
    <div class="pane-switch" role="group" aria-label="Show the stacks as">
      {offered.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={pane === name}
          title={`${panes[name].title} (${paneNames.indexOf(name) + 1})`}
          onClick={() => go({ pane: name })}
        >
          {panes[name].title}
        </button>
      ))}
    </div>
  );
}
