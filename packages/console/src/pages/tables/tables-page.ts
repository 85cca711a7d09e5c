import { type DiskPlace, readStorage } from '@chainstead/db';
import { keepFor } from '@chainstead/http';
import { html } from 'hono/html';
import type { ConsolePage } from '../../console-page.ts';
import { byteText } from '../../layout/bytes.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, duration, plainCount } from '../../layout/numbers.ts';

/** Sizes move slowly, and reading them looks at every file of the database. Milliseconds. */
const KEPT_MS = 30_000;

type Storage = Awaited<ReturnType<typeof readStorage>>;

/** What tables take on the disk, how fast they grow, and for how long the disk lasts. */
export const tablesPage: ConsolePage = {
  path: '/tables',
  title: 'Tables',
  group: 'Data',
  addRoutes(routes, { database, disk }) {
    const read = keepFor(KEPT_MS, () => readStorage(database, disk));
    routes.view('/tables', async () => ({ title: 'Tables', body: tablesView(await read(), disk) }));
  },
};

function tablesView(storage: Storage, place: DiskPlace): Html {
  return html`<h1>Tables</h1>
<section aria-labelledby="disk"><h2 id="disk">Disk</h2>${diskView(storage, place)}</section>
<section aria-labelledby="tables"><h2 id="tables">Tables</h2>${sizesView(storage)}</section>`;
}

function diskView({ databaseBytes, bytesPerDay, overSeconds, disk, daysLeft, away }: Storage, place: DiskPlace): Html {
  const growth =
    bytesPerDay === null
      ? 'not known yet: sizes are kept by the hour, by the role worker'
      : `${byteText(bytesPerDay)} a day, over the last ${duration(overSeconds ?? 0)}`;
  return html`${away.length === 0 ? NOTHING : html`<p class="problem"><strong>Nodes that did not answer:</strong> ${shown(away.join(', '), 400)}. What lies on them is missing here.</p>`}
<dl class="facts narrow">
<dt>Database, with indexes</dt><dd>${byteText(databaseBytes)}</dd>
<dt>Growth</dt><dd>${growth}</dd>
<dt>Disk</dt><dd>${disk.isKnown ? `${byteText(disk.freeBytes)} free of ${byteText(disk.sizeBytes)}` : html`unknown. ${shown(disk.reason, 400)}`}</dd>
<dt>Full in</dt><dd>${fullText(disk.isKnown, bytesPerDay, daysLeft)}</dd>
</dl>
${disk.isKnown && disk.source === 'setting' ? html`<p class="soft">By <code>DATABASE_DISK_BYTES</code> (${byteText(place.diskBytes ?? 0)}), of which the database's own size is taken: what else lies on that disk, the server's log too, is not known here.</p>` : NOTHING}`;
}

/** @param isKnown the disk */
function fullText(isKnown: boolean, bytesPerDay: number | null, daysLeft: number | null): string {
  if (!isKnown || bytesPerDay === null) return 'unknown';
  if (daysLeft === null) return 'never at this pace: it does not grow';
  return daysLeft < 1 ? 'less than a day' : `about ${plainCount(Math.floor(daysLeft))} days, at this pace`;
}

function sizesView({ tables }: Storage): Html {
  const rows = tables.map(
    ({ table, rows: estimate, heapBytes, indexBytes, partitions, bytesPerDay }) =>
      html`<tr><td>${shown(table)}${partitions > 0 ? html` <span class="soft">${count(partitions)} ${partitions === 1 ? 'partition' : 'partitions'}</span>` : NOTHING}</td><td class="number">${estimate === null ? 'not estimated yet' : html`about ${count(estimate)}`}</td>
<td class="number">${byteText(heapBytes + indexBytes)}</td><td class="number">${byteText(heapBytes)}</td><td class="number">${byteText(indexBytes)}</td><td class="number">${bytesPerDay === null ? '–' : byteText(bytesPerDay)}</td></tr>`,
  );
  return html`<div class="table" tabindex="0" role="region" aria-label="Tables by size"><table><caption>The largest first. Rows are what Postgres estimated at its last look, never counted here</caption>
<thead><tr><th scope="col">Table</th><th scope="col" class="number">Rows</th><th scope="col" class="number">Size</th><th scope="col" class="number">Rows alone</th><th scope="col" class="number">Indexes</th><th scope="col" class="number">Growth a day</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
