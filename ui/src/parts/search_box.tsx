// The search that all views share, where the flame graph with its own is not on screen.
import { useRef } from 'preact/hooks';
import { amend, state } from '../state/store';
import { matchOf } from '../text/match';
import { useCommands } from './commands/commands';
import './search_box.css';

export function SearchBox({ label }: { label: string }) {
  const box = useRef<HTMLInputElement>(null);
  const { search } = state.value;
  useCommands([{ id: 'search.focus', title: 'Search', group: 'Search', keys: ['/'], run: () => box.current?.focus() }]);
  return (
    <input
      ref={box}
      type="search"
      class="search-box"
      aria-label={label}
      placeholder="Search: name or /regex/"
      spellcheck={false}
      aria-invalid={matchOf(search).error !== ''}
      value={search}
      onInput={(event) => amend({ search: event.currentTarget.value })}
    />
  );
}
