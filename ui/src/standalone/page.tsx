// An exported profile: the panes of the web UI around one tree, in one file that needs nothing else.
import { type Answers, AnswersContext } from '../flame/answers';
import { useCommands } from '../parts/commands/commands';
import Help from '../parts/commands/help';
import Palette from '../parts/commands/palette';
import { closeDialog, openDialog } from '../parts/dialogs';
import { MenuHost } from '../parts/menu_host';
import { PaneSwitch } from '../parts/pane_switch';
import { ToastHost } from '../parts/toast';
import { GeneralTools, Logo } from '../parts/top_tools';
import { StackPane } from '../views/table/stack_pane';
import { copyLink, offeredPanes, pageCommands } from './page_commands';
import './page.css';

function Dialogs() {
  if (openDialog.value === 'palette') return <Palette onClose={closeDialog} />;
  if (openDialog.value === 'help') return <Help onClose={closeDialog} />;
  return null;
}

export interface PageProps {
  title: string;
  subtitle: string;
  compare: boolean;
  answers: Answers;
}

export function Page({ title, subtitle, compare, answers }: PageProps) {
  useCommands(pageCommands());
  return (
    <AnswersContext.Provider value={answers}>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <header class="top page-top">
        <Logo />
        <h1>
          <bdi>{title}</bdi>
        </h1>
        <p class="muted page-subtitle">{subtitle}</p>
        <div class="tools">
          <button type="button" title="Copy a link to this view (y)" onClick={copyLink}>
            Copy link
          </button>
          <GeneralTools />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <div class="page-panes">
          <PaneSwitch offered={offeredPanes} />
        </div>
        <StackPane compare={compare} />
      </main>
      <MenuHost />
      <Dialogs />
      <ToastHost />
    </AnswersContext.Provider>
  );
}
