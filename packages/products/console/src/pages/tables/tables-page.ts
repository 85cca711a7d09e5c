import type { DiskPlace } from '@chainstead/db';
import { readStorage } from '@chainstead/db/server';
import { keepFor } from '@chainstead/http/server';
import { html } from 'hono/html';
import type { ConsolePage } from '../../console-page.ts';
import { type Html, nameParts, shown } from '../../layout/html.ts';
import { byteText, count, duration, plainCount } from '../../layout/numbers.ts';
import { number, table } from '../../layout/table.ts';

/** Reading sizes stats every file of the database. */
const KEPT_MS = 30_000;

type Storage = Awaited<ReturnType<typeof readStorage>>;

export const tablesPage: ConsolePage = {
  path: '/tables',
  title: 'Tables',
  group: 'Data',
  addRoutes(routes, { database, disk }) {
    const read = keepFor(KEPT_MS, () => readStorage(database, disk));
    routes.view('/tables', async () => {
      const storage = await read();
      return {
        title: 'Tables',
        body: html`<h1>Tables</h1>
<section aria-labelledby="disk"><h2 id="disk">Disk</h2>${diskView(storage, disk)}</section>
<section aria-labelledby="tables"><h2 id="tables">Tables</h2>${sizesView(storage)}</section>`,
      };
    });
  },
};

function diskView(
  { databaseBytes, bytesPerDay, overSeconds, disk, daysLeft, away }: Storage,
  place: DiskPlace,
): Html {
  const growth =
    bytesPerDay === null
      ? 'not known yet: the role worker stores sizes every hour'
      : `${byteText(bytesPerDay)} a day, over the last ${duration(overSeconds ?? 0)}`;
  return html`${away.length > 0 && html`<p class="problem"><strong>Unavailable database nodes:</strong> ${shown(away.join(', '), 400)}. Their tables are missing here.</p>`}
<dl class="facts narrow">
<dt>Database, with indexes</dt><dd>${byteText(databaseBytes)}</dd>
<dt>Growth</dt><dd>${growth}</dd>
<dt>Disk</dt><dd>${disk.isKnown ? `${byteText(disk.freeBytes)} free of ${byteText(disk.sizeBytes)}` : html`unknown. ${shown(disk.reason, 400)}`}</dd>
<dt>Full in</dt><dd>${fullText(disk.isKnown, bytesPerDay, daysLeft)}</dd>
</dl>
${disk.isKnown && disk.source === 'setting' && html`<p class="soft">From <code>DATABASE_DISK_BYTES</code> (${byteText(place.diskBytes ?? 0)}) minus the size of the database. Other files on that disk, such as the WAL, are not counted.</p>`}`;
}

function fullText(isKnown: boolean, bytesPerDay: number | null, daysLeft: number | null): string {
  if (!isKnown || bytesPerDay === null) return 'unknown';
  if (daysLeft === null) return 'never: the database does not grow';
  return daysLeft < 1 ? 'less than a day' : `about ${plainCount(Math.floor(daysLeft))} days, at this pace`;
}

function sizesView({ tables }: Storage): Html {
  const rows = tables.map(({ table, rows: estimate, heapBytes, indexBytes, partitions, bytesPerDay }) => [
    html`${nameParts(table)}${partitions > 0 && html` <span class="soft">${count(partitions)} ${partitions === 1 ? 'partition' : 'partitions'}</span>`}`,
    estimate === null ? 'not estimated yet' : html`about ${count(estimate)}`,
    byteText(heapBytes + indexBytes),
    byteText(heapBytes),
    byteText(indexBytes),
    bytesPerDay === null ? '–' : byteText(bytesPerDay),
  ]);
  return table({
    label: 'Tables by size',
    caption: 'Largest first. Rows are estimates by Postgres',
    columns: ['Table', number('Rows'), number('Size'), number('Heap'), number('Indexes'), number('Growth/day')],
    rows,
  });
}
