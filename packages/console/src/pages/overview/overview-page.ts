import { html } from 'hono/html';
import type { ConsolePage } from '../../console-page.ts';
import { livePart } from '../../layout/live-part.ts';
import { overviewView } from './overview-view.ts';

/** The state of all chains and streams. */
export const overviewPage: ConsolePage = {
  path: '',
  title: 'Overview',
  addRoutes(routes, { overview }) {
    routes.view('', async () => ({
      title: 'Overview',
      body: html`<h1>Overview</h1>
${livePart('/overview', overviewView(await overview.read()))}`,
    }));
    routes.live('/overview', async () => overviewView(await overview.read()));
  },
};
