// The field for what is looked at: cpu{service_name="checkout"}. Offers types, labels and values while typing; Enter
// applies, Esc takes back. A matcher is also a chip below, to be turned round or removed by one click.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useAnswer } from '../api/answer';
import { askJson } from '../api/client';
import { formatSelector, type Matcher, type Operator, parseSelector } from '../state/selector';
import type { Source } from '../state/state';
import { labelText } from '../text/names';
import { visibleText } from '../text/safe';
import { suggestAt } from './selector_lists';
import type { Suggestion } from './selector_suggest';
import { offsetOfColumn } from './selector_tokens';
import './selector_bar.css';

interface Props {
  source: Source;
  onChange(source: Source): void;
  label: string; // "Selector", "Baseline selector"
}

const turned: Record<Operator, Operator> = { '=': '!=', '!=': '=', '=~': '!~', '!~': '=~' };
const words: Record<Operator, string> = { '=': 'is', '!=': 'is not', '=~': 'matches', '!~': 'does not match' };
const pause = 90; // ms of not typing before the server is asked

export function SelectorBar({ source, onChange, label }: Props) {
  const [text, setText] = useState(source.query);
  const [suggestions, setSuggestions] = useState<Suggestion[]>([]);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const [scroll, setScroll] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const asking = useRef(0);
  const timer = useRef(0);
  const id = useId();

  useEffect(() => setText(source.query), [source.query]);
  useEffect(() => () => clearTimeout(timer.current), []);

  // Whether the server understands it: a look into its index, without reading profiles.
  const check = new URLSearchParams(source.file ? { file: source.file } : { from: source.from, to: source.to });
  check.set('query', source.query);
  const verdict = useAnswer(source.query ? `check ${check}` : null, (signal) => askJson('types', check, signal));
  // Other errors are the view's to say.
  const ours =
    verdict.error && (verdict.error.column > 0 || /^(the selector|no profile type)/.test(verdict.error.message));
  const error = ours && text === source.query ? verdict.error : undefined;

  const close = () => {
    setOpen(false);
    setActive(-1);
  };
  const look = (value: string, at: number, delay: number) => {
    const number = ++asking.current;
    clearTimeout(timer.current);
    timer.current = window.setTimeout(async () => {
      // Lists that cannot be had are no reason to disturb somebody who types.
      const found = await suggestAt(value, at, source).catch(() => []);
      if (number !== asking.current || document.activeElement !== field.current) return;
      setSuggestions(found);
      setActive(-1);
      setOpen(found.length > 0);
    }, delay);
  };
  const choose = (suggestion: Suggestion) => {
    setText(suggestion.text);
    setActive(-1);
    const input = field.current!;
    input.value = suggestion.text;
    input.focus();
    input.setSelectionRange(suggestion.cursor, suggestion.cursor);
    look(suggestion.text, suggestion.cursor, 0);
  };
  const apply = (value: string) => {
    ++asking.current;
    clearTimeout(timer.current);
    close();
    if (value !== source.query) onChange({ ...source, query: value.trim() });
  };

  const changed = text !== source.query;
  const onKeyDown = (event: KeyboardEvent) => {
    const count = suggestions.length;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (!open) look(text, field.current!.selectionStart ?? text.length, 0);
      else {
        const by = event.key === 'ArrowDown' ? 1 : -1;
        setActive(active < 0 && by < 0 ? count - 1 : active + by < 0 || active + by >= count ? -1 : active + by);
      }
    } else if (event.key === 'Enter') {
      if (open && active >= 0) choose(suggestions[active]);
      else apply(text);
    } else if (event.key === 'Tab' && open && active >= 0) {
      choose(suggestions[active]);
    } else if (event.key === 'Escape') {
      if (open) close();
      else if (changed) setText(source.query);
      // Out of the field, so that letters are keys again.
      else field.current!.blur();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  useEffect(() => {
    if (active >= 0) document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [active]);

  const moved = () => {
    const input = field.current!;
    setScroll(input.scrollLeft);
  };
  const parsed = parseSelector(source.query);
  const setMatchers = (matchers: Matcher[]) => onChange({ ...source, query: formatSelector({ ...parsed, matchers }) });

  return (
    <div class="selector">
      <div class="selector-line">
        <div class="selector-field">
          <input
            ref={field}
            class="selector-input mono"
            type="text"
            role="combobox"
            aria-label={label}
            aria-expanded={open}
            aria-controls={`${id}-list`}
            aria-autocomplete="list"
            aria-activedescendant={open && active >= 0 ? `${id}-${active}` : undefined}
            aria-invalid={error ? true : undefined}
            aria-describedby={error ? `${id}-error` : undefined}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder='cpu{service_name="checkout"}'
            value={text}
            onInput={(event) => {
              const input = event.currentTarget;
              setText(input.value);
              look(input.value, input.selectionStart ?? input.value.length, pause);
              moved();
            }}
            onClick={(event) => look(text, event.currentTarget.selectionStart ?? 0, 0)}
            onKeyUp={(event) => {
              if (!['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key)) return;
              look(text, event.currentTarget.selectionStart ?? 0, pause);
              moved();
            }}
            onScroll={moved}
            onBlur={close}
            onKeyDown={onKeyDown}
          />
          {error && error.column > 0 && (
            <div class="selector-marks mono" aria-hidden="true">
              <span style={{ left: `calc(${offsetOfColumn(text, error.column)}ch - ${scroll}px)` }} />
            </div>
          )}
          <div id={`${id}-list`} class="selector-list" role="listbox" aria-label="Suggestions" hidden={!open}>
            {suggestions.map((suggestion, index) => (
              // biome-ignore lint/a11y/useFocusableInteractive: aria-activedescendant stands for the focus
              <div
                key={suggestion.label}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === active}
                // Before the field loses the focus.
                onMouseDown={(event) => {
                  event.preventDefault();
                  choose(suggestion);
                }}
              >
                <span class="mono">{labelText(suggestion.label)}</span>
                {suggestion.detail && <span class="muted">{suggestion.detail}</span>}
              </div>
            ))}
          </div>
        </div>
        {changed && (
          <>
            <button type="button" class="primary" onClick={() => apply(text)}>
              Apply
            </button>
            <button type="button" class="quiet" onClick={() => setText(source.query)}>
              Revert
            </button>
          </>
        )}
      </div>
      {error && (
        <p id={`${id}-error`} class="selector-error" role="alert">
          {error.message}
          {error.hint && <span class="muted"> {error.hint}</span>}
        </p>
      )}
      {parsed.matchers.length > 0 && (
        <ul class="selector-chips" aria-label={`${label}: labels`}>
          {parsed.matchers.map((matcher, index) => {
            const name = `${visibleText(matcher.name)} ${words[matcher.operator]} ${labelText(matcher.value)}`;
            return (
              <li key={index} class="selector-chip">
                <span class="muted">{visibleText(matcher.name)}</span>
                <button
                  type="button"
                  class="quiet mono"
                  title={`${words[matcher.operator]} – click to negate`}
                  aria-label={`${name}: change to ${words[turned[matcher.operator]]}`}
                  onClick={() =>
                    setMatchers(
                      parsed.matchers.map((other, at) =>
                        at === index ? { ...other, operator: turned[other.operator] } : other,
                      ),
                    )
                  }
                >
                  {matcher.operator}
                </button>
                <span class="selector-value" title={labelText(matcher.value)}>
                  {labelText(matcher.value)}
                </span>
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Remove ${name}`}
                  onClick={() => setMatchers(parsed.matchers.filter((_, at) => at !== index))}
                >
                  ×
                </button>
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}
