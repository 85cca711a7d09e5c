import { AUDIT_ENTRY, type AuditRecord, InvalidParameterError, listAudit } from '@chainstead/http';
import { html } from 'hono/html';
import type { ConsolePage } from '../../console-page.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { moment } from '../../layout/numbers.ts';

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
      const records = await listAudit(database, before ?? null, PAGE + 1);
      return { title: 'Audit log', body: auditView(records) };
    });
  },
};

/** @param records one more than is shown where there are older ones */
function auditView(records: readonly AuditRecord[]): Html {
  const page = records.slice(0, PAGE);
  const oldest = records.length > PAGE ? page.at(-1) : undefined;
  const rows = page.map(
    (
      record,
    ) => html`<tr><td>${moment(record.at)}</td><td>${shown(record.name ?? record.id)}<br><code class="soft">${shown(record.id)}</code></td>
<td>${record.action}</td><td><code>${shown(record.target)}</code></td><td>${shown(JSON.stringify(record.details), DETAILS_MAX)}</td>
<td>${record.door}${record.address === null ? NOTHING : html`, ${shown(record.address)}`}</td><td><code>${shown(record.requestId ?? '–')}</code></td></tr>`,
  );
  return html`<h1>Audit log</h1>
<p class="soft">Every change that was made here and by commands, and of streams by the API, the newest first. In SQL: <code>SELECT * FROM audit_log ORDER BY id DESC</code></p>
${
  page.length === 0
    ? html`<p>Nothing was changed yet.</p>`
    : html`<div class="table" tabindex="0" role="region" aria-label="Changes"><table><thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">To what</th><th scope="col">Details</th><th scope="col">From where</th><th scope="col">Request</th></tr></thead><tbody>${rows}</tbody></table></div>`
}
${oldest === undefined ? NOTHING : html`<p><a href="/console/audit?before=${oldest.entry}" rel="next">Older</a></p>`}`;
}
