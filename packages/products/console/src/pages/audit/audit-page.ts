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
import { selectField } from '../../layout/form.ts';
import { cut, type Html, nameParts, nextLink, readChoice, shown, writeQuery } from '../../layout/html.ts';
import { moment } from '../../layout/numbers.ts';
import { table, wide } from '../../layout/table.ts';

const PAGE = 100;
const DETAILS_MAX = 300;

export const auditPage: ConsolePage = {
  path: '/audit',
  title: 'Audit log',
  group: 'Access',
  addRoutes(routes, { database }) {
    routes.view('/audit', async ({ query }) => {
      const before = query('before');
      if (before !== undefined && !AUDIT_ENTRY.test(before))
        throw new InvalidParameterError({ parameter: 'before', given: before, allowed: 'the id of an entry' });
      const door = readChoice('door', cut(query('door') ?? ''), AUDIT_DOORS);
      const records = await listAudit(database, before ?? null, PAGE + 1, door);
      return { title: 'Audit log', body: auditView(records, door) };
    });
  },
};

const DOORS: Readonly<Record<AuditDoor, string>> = {
  api: 'the API',
  console: 'the console',
  command: 'commands',
  start: 'program start',
};

function auditView(records: readonly AuditRecord[], door: AuditDoor | null): Html {
  const page = records.slice(0, PAGE);
  const oldest = records.length > PAGE ? page.at(-1) : undefined;
  const rows = page.map((record) => [
    moment(record.at),
    html`${shown(record.name ?? record.id)}<br><code class="soft">${shown(record.id)}</code>`,
    nameParts(record.action),
    html`<code>${shown(record.target)}</code>`,
    shown(JSON.stringify(record.details), DETAILS_MAX),
    html`${record.door}${record.address !== null && html`, ${shown(record.address)}`}`,
    html`<code>${shown(record.requestId ?? '–')}</code>`,
  ]);
  return html`<h1>Audit log</h1>
<p class="soft">Changes by the console and by commands, and changes of streams by the API, newest first. In SQL: <code>SELECT * FROM audit_log ORDER BY id DESC</code></p>
<form method="get" action="/console/audit" class="fields row" aria-label="Filter changes">
${selectField({ name: 'door', label: 'Source', options: Object.entries(DOORS), chosen: door ?? '', all: 'all' })}
<div><button class="quiet">Show</button></div></form>
${
  page.length === 0
    ? html`<p>${door === null ? 'No changes recorded.' : `No changes recorded from ${DOORS[door]}.`}</p>`
    : table({
        label: 'Changes',
        columns: ['Time', 'Actor', 'Action', wide('Target', 'name'), 'Details', 'Origin', 'Request'],
        rows,
      })
}
${nextLink(oldest ? `/console/audit${writeQuery({ door, before: oldest.entry })}` : null, 'Older')}`;
}
