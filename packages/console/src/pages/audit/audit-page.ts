import {
  AUDIT_DOORS,
  AUDIT_ENTRY,
  type AuditDoor,
  type AuditRecord,
  InvalidParameterError,
  listAudit,
} from '@chainstead/http';
import { html } from 'hono/html';
import type { ConsolePage } from '../../console-page.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { moment } from '../../layout/numbers.ts';
import { selectField } from '../../layout/select-field.ts';

const PAGE = 100;
const DETAILS_MAX = 300;

/** Who changed what, when, from where. */
export const auditPage: ConsolePage = {
  path: '/audit',
  title: 'Audit log',
  group: 'Access',
  addRoutes(routes, { database }) {
    routes.view('/audit', async ({ query }) => {
      const before = query('before');
      if (before !== undefined && !AUDIT_ENTRY.test(before))
        throw new InvalidParameterError({ parameter: 'before', given: before, allowed: 'an entry of the log' });
      const door = doorIn(query('door'));
      const records = await listAudit(database, before ?? null, PAGE + 1, door);
      return { title: 'Audit log', body: auditView(records, door) };
    });
  },
};

/** What ways are called. */
const DOORS: Readonly<Record<AuditDoor, string>> = {
  api: 'the API',
  console: 'the console',
  command: 'commands',
  start: 'the start of the program',
};

/** @throws InvalidParameterError */
function doorIn(given: string | undefined): AuditDoor | null {
  if (given === undefined || given === '') return null;
  const door = AUDIT_DOORS.find((one) => one === given);
  if (door === undefined)
    throw new InvalidParameterError({ parameter: 'door', given: cut(given), allowed: AUDIT_DOORS.join(', ') });
  return door;
}

/** @param records one more than is shown where there are older ones */
function auditView(records: readonly AuditRecord[], door: AuditDoor | null): Html {
  const page = records.slice(0, PAGE);
  const oldest = records.length > PAGE ? page.at(-1) : undefined;
  const rows = page.map(
    (
      record,
    ) => html`<tr><td>${moment(record.at)}</td><td>${shown(record.name ?? record.id)}<br><code class="soft">${shown(record.id)}</code></td>
<td class="name">${record.action}</td><td class="name"><code>${shown(record.target)}</code></td><td>${shown(JSON.stringify(record.details), DETAILS_MAX)}</td>
<td>${record.door}${record.address === null ? NOTHING : html`, ${shown(record.address)}`}</td><td><code>${shown(record.requestId ?? '–')}</code></td></tr>`,
  );
  return html`<h1>Audit log</h1>
<p class="soft">Every change that was made here and by commands, and of streams by the API, the newest first. In SQL: <code>SELECT * FROM audit_log ORDER BY id DESC</code></p>
<form method="get" action="/console/audit" class="fields row" aria-label="Which changes">
${selectField({ name: 'door', label: 'By', options: AUDIT_DOORS.map((one) => [one, DOORS[one]] as const), chosen: door ?? '', all: 'any way' })}
<div><button class="quiet">Show</button></div></form>
${
  page.length === 0
    ? html`<p>${door === null ? 'Nothing was changed yet.' : `Nothing was changed by ${DOORS[door]}.`}</p>`
    : html`<div class="table" tabindex="0" role="region" aria-label="Changes"><table><thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">To what</th><th scope="col">Details</th><th scope="col">From where</th><th scope="col">Request</th></tr></thead><tbody>${rows}</tbody></table></div>`
}
${oldest === undefined ? NOTHING : html`<p><a href="/console/audit?${new URLSearchParams({ ...(door !== null && { door }), before: oldest.entry })}" rel="next">Older</a></p>`}`;
}
