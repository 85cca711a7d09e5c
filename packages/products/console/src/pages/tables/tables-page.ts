import type { DiskPlace } from '@chainstead/db';
import { readStorage } from '@chainstead/db/server';
import { keepFor } from '@chainstead/http/server';
import { html } from 'hono/html';
import type { ConsolePage } from '../../console-page.ts';
import { dash, factList, type Html, nameParts, note, section, shown, soft } from '../../layout/html.ts';
import { byteText, count, counted, duration, plainCount } from '../../layout/numbers.ts';
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
        body: html`${section('disk', 'Disk', diskView(storage, disk))}
${section('tables', 'Tables', sizesView(storage))}`,
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
${factList('narrow', [
  ['Database, with indexes', byteText(databaseBytes)],
  ['Growth', growth],
  [
    'Disk',
    disk.isKnown
      ? `${byteText(disk.freeBytes)} free of ${byteText(disk.sizeBytes)}`
      : html`unknown. ${shown(disk.reason, 400)}`,
  ],
  ['Full in', fullText(disk.isKnown, bytesPerDay, daysLeft)],
])}
${disk.isKnown && disk.source === 'setting' && note(html`From <code>DATABASE_DISK_BYTES</code> (${byteText(place.diskBytes ?? 0)}) minus the size of the database. Other files on that disk, such as the WAL, are not counted.`)}`;
}

function fullText(isKnown: boolean, bytesPerDay: number | null, daysLeft: number | null): string {
  if (!isKnown || bytesPerDay === null) return 'unknown';
  if (daysLeft === null) return 'never: the database does not grow';
  return daysLeft < 1 ? 'less than a day' : `about ${plainCount(Math.floor(daysLeft))} days, at this pace`;
}

function sizesView({ tables }: Storage): Html {
  const rows = tables.map(({ table, rows: estimate, heapBytes, indexBytes, partitions, bytesPerDay }) => [
    html`${nameParts(table)}${partitions > 0 && html` ${soft(counted(partitions, 'partition', 'partitions'))}`}`,
    estimate === null ? 'not estimated yet' : html`about ${count(estimate)}`,
    byteText(heapBytes + indexBytes),
    byteText(heapBytes),
    byteText(indexBytes),
    dash(bytesPerDay, byteText),
  ]);
  return table({
    label: 'Tables by size',
    caption: 'Largest first. Rows are estimates by Postgres',
    columns: ['Table', ...['Rows', 'Size', 'Heap', 'Indexes', 'Growth/day'].map(number)],
    rows,
  });
}
