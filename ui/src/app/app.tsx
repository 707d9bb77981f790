// The frame around every view: where one is, where one can go, and what is wrong with the connection.

import { computed } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, inFlight, online } from '../api/client';
import { refreshCount, refreshNow } from '../api/refresh';
import { loadServerConfig } from '../api/server_config';
import { useCommands } from '../parts/commands/commands';
import { openDialog, showDialog } from '../parts/dialogs';
import { MenuHost } from '../parts/menu_host';
import { ErrorNotice, Waiting } from '../parts/notice';
import { ToastHost } from '../parts/toast';
import { GeneralTools, Logo } from '../parts/top_tools';
import { labelValue } from '../state/selector';
import { go, linkTo, state } from '../state/store';
import { menuViews, type View, views } from '../state/views';
import { labelText } from '../text/names';
import { dragging, opening } from '../views/files/drop';
import { OpeningProgress } from '../views/files/opening';
import { DialogHost } from './dialog_host';
import { ShareButton } from './share';
import { shellCommands } from './shell_commands';
import { firstView, viewLoaders } from './views';
import './shell.css';

const loaded = new Map<View, ComponentType>([['services', firstView]]);

function useView(view: View): { Current?: ComponentType; failed: boolean } {
  const [, setCount] = useState(0);
  const failed = useRef<View | null>(null);
  // A view that could not be loaded is tried again with everything else.
  const attempt = refreshCount.value;
  useEffect(() => {
    if (view === 'services' || loaded.has(view)) return;
    const done = () => {
      inFlight.value--;
      setCount((count) => count + 1);
    };
    inFlight.value++;
    viewLoaders[view]().then(
      (component) => {
        loaded.set(view, component);
        failed.current = null;
        done();
      },
      () => {
        failed.current = view;
        online.value = false;
        done();
      },
    );
  }, [view, failed.current ? attempt : 0]);
  return { Current: loaded.get(view), failed: failed.current === view };
}

const plainClick = (event: MouseEvent) => !event.metaKey && !event.ctrlKey && !event.shiftKey && event.button === 0;

function ViewLink({ view, children, ...rest }: { view: View; children: preact.ComponentChildren; class?: string }) {
  const current = state.value.view === view;
  return (
    <a
      {...rest}
      href={linkTo({ view })}
      aria-current={current && !rest.class ? 'page' : undefined}
      onClick={(event) => {
        if (!plainClick(event)) return;
        event.preventDefault();
        go({ view });
      }}
    >
      {children}
    </a>
  );
}

function Navigation() {
  return (
    <nav aria-label="Views">
      {menuViews.map((view) => (
        <ViewLink key={view} view={view}>
          {views[view].title}
        </ViewLink>
      ))}
    </nav>
  );
}

const busyNow = computed(() => inFlight.value > 0);
const quiet = 150; // ms in which an answer needs no announcement

// A thin line while answers are awaited; what was there before stays below it.
function Progress() {
  const [shown, setShown] = useState(false);
  const waiting = busyNow.value;
  useEffect(() => {
    if (!waiting) return setShown(false);
    const timer = setTimeout(() => setShown(true), quiet);
    return () => clearTimeout(timer);
  }, [waiting]);
  return <div class={shown ? 'shell-progress shown' : 'shell-progress'} aria-hidden="true" />;
}

function Banner() {
  if (online.value) return null;
  return (
    <div class="banner row spread" role="alert">
      <span>
        <strong>The server is not responding.</strong> What you see may be old; nothing you set is lost. Trying again
        every few seconds.
      </span>
      <button type="button" onClick={refreshNow}>
        Try now
      </button>
    </div>
  );
}

function DropHint() {
  if (opening.value) {
    // The dialog of files shows the same.
    if (openDialog.value === 'files') return null;
    return (
      <div class="shell-drop shell-opening">
        <div>
          <OpeningProgress />
        </div>
      </div>
    );
  }
  if (!dragging.value) return null;
  return (
    <div class="shell-drop" role="status">
      <div>Drop a profile to open it, or two to compare them</div>
    </div>
  );
}

export function App() {
  const { view, source } = state.value;
  const { Current, failed } = useView(view);
  useEffect(() => {
    if (Current) performance.mark('vesta:interactive'); // benchmarks and tests wait for it
  }, [Current]);
  const connected = online.value;
  useCommands(shellCommands());
  const service = labelValue(source.query, 'service_name');
  useEffect(() => {
    const what = view !== 'services' && service ? `${labelText(service)} · ` : '';
    document.title = `${what}${views[view].title} · Vesta`;
  }, [view, service]);
  // What had the focus may be gone with the view before: the keyboard goes on in the new one.
  const before = useRef(view);
  useEffect(() => {
    if (before.current === view) return;
    before.current = view;
    if (document.activeElement === document.body) document.getElementById('main')?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [view, Current]);
  useEffect(() => {
    if (connected) loadServerConfig();
  }, [connected]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <ViewLink view="services" class="brand">
          <Logo />
          Vesta
        </ViewLink>
        <Navigation />
        <div class="tools">
          <button type="button" onClick={() => showDialog('files')}>
            Open file
          </button>
          <ShareButton />
          <GeneralTools />
        </div>
      </header>
      <Progress />
      <Banner />
      <main id="main" tabIndex={-1}>
        {Current && <Current />}
        {!Current && failed && <ErrorNotice error={new ApiError('gone', 'the server is not responding')} />}
        {!Current && !failed && <Waiting slow={false} />}
      </main>
      <MenuHost />
      <DialogHost />
      <ToastHost />
      <DropHint />
    </>
  );
}
