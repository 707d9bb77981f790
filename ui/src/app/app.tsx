// The frame around every view: where one is, where one can go, and what is wrong with the connection.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { online } from '../api/client';
import type { View } from '../state/state';
import { go, linkTo, state } from '../state/store';
import { chooseTheme, isDark } from './theme';
import { firstView, viewLoaders, viewTitles } from './views';

const inMenu: View[] = ['services', 'explore', 'diff', 'heatmap', 'targets'];
const loaded = new Map<View, ComponentType>([['services', firstView]]);

function useView(view: View): ComponentType | undefined {
  const [, setCount] = useState(0);
  useEffect(() => {
    if (view === 'services' || loaded.has(view)) return;
    viewLoaders[view]().then((component) => {
      loaded.set(view, component);
      setCount((count) => count + 1);
    });
  }, [view]);
  return loaded.get(view);
}

function Navigation() {
  const current = state.value.view;
  return (
    <nav aria-label="Views">
      {inMenu.map((view) => (
        <a
          key={view}
          href={linkTo({ view })}
          aria-current={view === current ? 'page' : undefined}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return;
            event.preventDefault();
            go({ view });
          }}
        >
          {viewTitles[view]}
        </a>
      ))}
    </nav>
  );
}

function ThemeButton() {
  const dark = isDark();
  return (
    <button type="button" class="quiet" aria-pressed={dark} onClick={() => chooseTheme(dark ? 'light' : 'dark')}>
      Dark
    </button>
  );
}

export function App() {
  const { view } = state.value;
  const Current = useView(view);
  useEffect(() => {
    document.title = `${viewTitles[view]} · Vesta`;
  }, [view]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href={linkTo({ view: 'services' })}>
          Vesta
        </a>
        <Navigation />
        <div class="tools">
          <ThemeButton />
        </div>
      </header>
      {!online.value && (
        <div class="banner" role="status">
          The server does not answer. What you see may be old; trying again.
        </div>
      )}
      <main id="main" tabIndex={-1}>
        {Current && <Current />}
      </main>
    </>
  );
}
