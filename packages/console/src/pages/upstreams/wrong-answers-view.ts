import type { WrongAnswerRecord } from '@chainstead/sync';
import { html } from 'hono/html';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, moment } from '../../layout/numbers.ts';
import { number, table, wide } from '../../layout/table.ts';
import type { NodeAddress } from './node-address.ts';
import { writeCursor } from './wrong-answer-cursor.ts';

const DESCRIPTION_MAX = 300;

/** The whole list. @param records one more than a page if there are older ones */
export function wrongAnswersView(records: readonly WrongAnswerRecord[], page: number, addressOf: NodeAddress): Html {
  const listed = records.slice(0, page);
  const last = records.length > page ? listed.at(-1) : undefined;
  return html`<h1>Wrong responses</h1>
<p class="soft">Responses of nodes that a proof or other nodes contradicted, by day and kind for a year, and each block with repaired rows. Chainstead uses other nodes instead, and such a node less often.</p>
${listed.length === 0 ? html`<p>No ${records.length === 0 ? 'wrong responses recorded' : 'older wrong responses'}.</p>` : wrongAnswersTable(listed, addressOf)}
${last === undefined ? NOTHING : html`<p><a href="/console/upstreams/wrong-answers?before=${writeCursor(last.cursor)}" rel="next">Older</a></p>`}
<p><a href="/console/upstreams">Upstreams</a></p>`;
}

export function wrongAnswersTable(records: readonly WrongAnswerRecord[], addressOf: NodeAddress): Html {
  const rows = records.map((record) => [
    moment(record.seenAt),
    shown(addressOf(record)),
    shown(record.chain),
    html`${shown(record.kind)}${record.block === null ? NOTHING : html`, block ${count(record.block)} repaired`}`,
    count(record.occurrences),
    html`${record.block === null ? html`<code>${shown(record.method)}</code>: ` : NOTHING}${shown(record.description, DESCRIPTION_MAX)}`,
  ]);
  return table({
    label: 'Wrong responses',
    columns: [
      wide('Last seen', 'name'),
      wide('Node', 'name'),
      'Chain',
      wide('Kind', 'name'),
      number('Count'),
      wide('Details', 'text'),
    ],
    rows,
  });
}
