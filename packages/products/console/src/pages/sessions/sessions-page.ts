import { html } from 'hono/html';
import { z } from 'zod';
import type { ConsolePage, ConsoleRequest } from '../../console-page.ts';
import { button, changeForm } from '../../layout/form.ts';
import { type Html, note, shown } from '../../layout/html.ts';
import { moment } from '../../layout/numbers.ts';
import { table } from '../../layout/table.ts';
import type { ConsoleSession } from '../../sessions/session-store.ts';

const endForm = z.object({ id: z.string().regex(/^[0-9a-f]{64}$/, 'is not a session') });

export const sessionsPage: ConsolePage = {
  path: '/sessions',
  title: 'Sessions',
  group: 'Access',
  addRoutes(routes, { sessions }) {
    routes.view('/sessions', async (request) => ({ body: sessionsView(await sessions.list(), request) }));
    routes.change('/sessions/end', endForm, async ({ form, by }) => {
      await sessions.end(form.id, by);
      return { goTo: '/console/sessions' };
    });
  },
};

function sessionsView(sessions: readonly ConsoleSession[], { session: own, token }: ConsoleRequest): Html {
  const rows = sessions.map((session) => [
    html`${shown(session.keyName)}<br><code class="soft">${shown(session.keyId)}</code>${session.id === own.id ? html` <strong>this session</strong>` : ''}`,
    moment(session.createdAt),
    moment(session.seenAt),
    moment(session.expiresAt),
    shown(session.address),
    shown(session.userAgent, 200),
    changeForm(
      '/console/sessions/end',
      token,
      { id: session.id },
      button('End', 'danger'),
      `End the session of ${session.keyId} from ${session.address}`,
    ),
  ]);
  return html`${note('Keys signed in to the console. A session ends 12 hours after its last use, a week after sign-in, or together with its key.')}
${table({ label: 'Sessions', columns: ['Key', 'Signed in', 'Last used', 'Expires', 'Address', 'Browser', 'Action'], rows })}`;
}
