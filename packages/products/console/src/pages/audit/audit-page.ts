import { AUDIT_DOORS, AUDIT_ENTRY, type AuditDoor, type AuditRecord, listAudit } from '@chainstead/http';
import { html } from 'hono/html';
import type { ConsolePage } from '../../console-page.ts';
import { field, queryForm } from '../../layout/form.ts';
import {
  code,
  cut,
  type Html,
  nameParts,
  nextLink,
  note,
  readChoice,
  refused,
  shown,
  writeQuery,
} from '../../layout/html.ts';
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
        throw refused('before', before, 'the id of an entry');
      const door = readChoice('door', cut(query('door') ?? ''), AUDIT_DOORS);
      const records = await listAudit(database, before ?? null, PAGE + 1, door);
      return { body: auditView(records, door) };
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
    code(shown(record.target)),
    shown(JSON.stringify(record.details), DETAILS_MAX),
    html`${record.door}${record.address !== null && html`, ${shown(record.address)}`}`,
    code(shown(record.requestId ?? '–')),
  ]);
  const doors = field('door', { label: 'Source', options: Object.entries(DOORS), all: 'all' }, door);
  return html`${note('Changes by the console and by commands, and changes of streams by the API, newest first. In SQL: `SELECT * FROM audit_log ORDER BY id DESC`')}
${queryForm('/console/audit', 'Filter changes', doors)}
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
