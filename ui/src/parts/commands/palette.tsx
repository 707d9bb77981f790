// Everything that can be done, found by a few letters.
import { useEffect, useId, useState } from 'preact/hooks';
import { Dialog } from '../dialog';
import { type Command, commands } from './commands';
import { fuzzySort } from './fuzzy';
import { keyLabel } from './keys';
import './palette.css';

export default function Palette({ onClose }: { onClose(): void }) {
  const [question, setQuestion] = useState('');
  const [active, setActive] = useState(0);
  const id = useId();
  // Asked before this dialog takes the focus: some commands are about what has it.
  const [possible] = useState(() => commands.value.filter((command) => command.enabled?.() ?? true));
  const found = fuzzySort(question, possible, (command) => `${command.title} ${command.group}`).slice(0, 60);
  const run = (command: Command) => {
    onClose();
    // After the dialog has given the focus back: the command may move it.
    setTimeout(() => command.run());
  };
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <Dialog title="Commands" onClose={onClose} bare>
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-label="Find a command"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found[active] ? `${id}-${active}` : undefined}
        autocomplete="off"
        placeholder="Find a command"
        value={question}
        onInput={(event) => {
          setQuestion(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={(event) => {
          const count = found.length;
          if (event.key === 'ArrowDown') setActive(count ? (active + 1) % count : 0);
          else if (event.key === 'ArrowUp') setActive(count ? (active + count - 1) % count : 0);
          else if (event.key === 'Home' && !question) setActive(0);
          else if (event.key === 'Enter') {
            if (found[active]) run(found[active].entry);
          } else return;
          event.preventDefault();
        }}
      />
      <div id={`${id}-list`} class="palette-list" role="listbox" aria-label="Commands">
        {found.map(({ entry, match }, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: aria-activedescendant stands for the focus
          <div
            key={entry.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            onClick={() => run(entry)}
            onPointerMove={() => setActive(index)}
          >
            <span>
              <Marked text={entry.title} places={match.places} />
            </span>
            <span class="muted">{entry.group}</span>
            {entry.keys?.[0] && <kbd>{keyLabel(entry.keys[0])}</kbd>}
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <p class="muted" role="status">
          No command matches.
        </p>
      )}
    </Dialog>
  );
}

function Marked({ text, places }: { text: string; places: number[] }) {
  const at = new Set(places);
  return <>{[...text].map((letter, index) => (at.has(index) ? <b key={index}>{letter}</b> : letter))}</>;
}
