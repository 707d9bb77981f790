// Shows the menu that menu.ts says is open, and runs it by keyboard and pointer.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { keyLabel } from './commands/keys';
import { closeMenu, type MenuItem, openMenu } from './menu';
import { first, last, place, step, typeAhead } from './menu_keys';
import './menu.css';

const forget = 700; // ms after which letters begin a new word

export function MenuHost() {
  const menu = openMenu.value;
  return menu && <Menu key={`${menu.label} ${menu.x} ${menu.y}`} />;
}

function Menu() {
  const menu = openMenu.value!;
  const items = menu.groups.flatMap((group) => group.items);
  const [active, setActive] = useState(() => first(items));
  const [where, setWhere] = useState({ left: menu.x, top: menu.y });
  const box = useRef<HTMLDivElement>(null);
  const typed = useRef({ text: '', at: 0 });

  useLayoutEffect(() => {
    const { width, height } = box.current!.getBoundingClientRect();
    setWhere(place(menu.x, menu.y, width, height, window.innerWidth, window.innerHeight));
  }, [menu]);
  useLayoutEffect(() => {
    const entry = box.current!.querySelectorAll<HTMLElement>('[role^=menuitem]')[active];
    (entry ?? box.current!).focus({ preventScroll: false });
  }, [active]);
  useLayoutEffect(() => {
    const outside = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) closeMenu();
    };
    const gone = () => closeMenu();
    document.addEventListener('pointerdown', outside, true);
    window.addEventListener('blur', gone);
    window.addEventListener('resize', gone);
    return () => {
      document.removeEventListener('pointerdown', outside, true);
      window.removeEventListener('blur', gone);
      window.removeEventListener('resize', gone);
    };
  }, []);

  // Closed first: what the entry does may open another menu or move the focus.
  const run = (item: MenuItem) => {
    if (item.disabled) return;
    closeMenu();
    item.run();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    if (key === 'ArrowDown') setActive(step(items, active, 1));
    else if (key === 'ArrowUp') setActive(step(items, active < 0 ? items.length : active, -1));
    else if (key === 'Home') setActive(first(items));
    else if (key === 'End') setActive(last(items));
    else if (key === 'Escape' || key === 'Tab') closeMenu();
    else if (key === 'Enter' || (key === ' ' && !typed.current.text)) {
      if (items[active]) run(items[active]);
    } else if (key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const now = Date.now();
      typed.current = { text: now - typed.current.at < forget ? typed.current.text + key : key, at: now };
      const found = typeAhead(items, active, typed.current.text);
      if (found >= 0) setActive(found);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  let index = -1;
  return (
    <div
      ref={box}
      class="menu"
      role="menu"
      tabIndex={-1}
      aria-label={menu.label}
      style={{ left: `${where.left}px`, top: `${where.top}px` }}
      onKeyDown={onKeyDown}
      onContextMenu={(event) => event.preventDefault()}
    >
      {menu.groups.map((group, g) => (
        // biome-ignore lint/a11y/useSemanticElements: groups of a menu have this role
        <div key={group.title ?? g} role="group" aria-label={group.title ?? menu.label} class="menu-group">
          {group.title && (
            <div class="menu-title" aria-hidden="true">
              {group.title}
            </div>
          )}
          {group.items.map((item) => {
            const at = ++index;
            return (
              // biome-ignore lint/a11y/useAriaPropsSupportedByRole: checked only where the role has it
              // biome-ignore lint/a11y/useKeyWithClickEvents: the menu itself has the keys
              // biome-ignore lint/a11y/noStaticElementInteractions: the role is one of two
              <div
                key={item.title}
                role={item.checked === undefined ? 'menuitem' : 'menuitemcheckbox'}
                aria-checked={item.checked}
                aria-disabled={item.disabled ? true : undefined}
                aria-keyshortcuts={item.key?.replace('Ctrl', 'Control')}
                tabIndex={-1}
                class="menu-item"
                onPointerMove={() => !item.disabled && active !== at && setActive(at)}
                onClick={() => run(item)}
              >
                <span class="menu-check" aria-hidden="true">
                  {item.checked ? '✓' : ''}
                </span>
                <span class="menu-text">{item.title}</span>
                {item.key && (
                  <span aria-hidden="true">
                    <kbd>{keyLabel(item.key)}</kbd>
                  </span>
                )}
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}
