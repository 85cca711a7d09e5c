import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { readPackedPage } from '@chainstead/db/packed-rows';
import { type Indexed, type PageBlock, readBlocks, readConsistentPage, readIndexed } from '@chainstead/pages';
import type { EventTable } from '../tables/event-table.ts';
import { type EventRow, eventRows, paramsOf } from './event-rows.ts';
import { type EventPlace, type EventsPageRow, type EventsQuery, eventsStatement } from './events-statement.ts';

export interface ListedEvent
  extends Pick<EventRow, 'block_number' | 'transaction_index' | 'log_index' | 'transaction_hash' | 'contract'> {
  readonly block: PageBlock;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface EventsPage {
  readonly rows: readonly ListedEvent[];
  readonly indexed: Indexed;
  /** `upperBound`: the run's highest block. Null: last page. */
  readonly next: { readonly position: EventPlace; readonly upperBound: number } | null;
}

export const ROWS_READ_MAX = 10_000;

/** A page may be short after {@link ROWS_READ_MAX} rows. @throws {InconsistentPageError} */
export function getEvents(
  database: ReadDatabase,
  chain: Chain,
  table: EventTable,
  query: EventsQuery,
): Promise<EventsPage> {
  return readConsistentPage(async () => {
    const first = await readPage(database, chain, table, query, query.limit + 1);
    if (!first.isCut) return first.page;
    const { page } = await readPage(database, chain, table, query, Math.max(ROWS_READ_MAX, query.limit + 1));
    return page;
  });
}

async function readPage(
  database: ReadDatabase,
  chain: Chain,
  table: EventTable,
  query: EventsQuery,
  rowsMax: number,
): Promise<{ readonly page: EventsPage; readonly isCut: boolean }> {
  const packed = eventRows(table);
  const { rows, page } = await readPackedPage<EventRow, EventsPageRow>(database, packed, (select) =>
    eventsStatement(chain, table, query, rowsMax, select),
  );
  const blockOf = readBlocks(page.blocks, rows);
  const all = rows.map((row): ListedEvent => ({ ...row, block: blockOf(row), params: paramsOf(table, row) }));
  const last = all.length > query.limit ? all[query.limit - 1] : undefined;
  const position = last === undefined ? page.read_to : placeOf(last, query);
  const upperBound = query.pinnedBlock ?? page.newest ?? position?.block_number ?? 0;
  return {
    page: {
      rows: all.slice(0, query.limit),
      indexed: readIndexed(page),
      next: position === null ? null : { position, upperBound },
    },
    isCut: page.read_to !== null,
  };
}

function placeOf(
  { block_number, transaction_index, log_index, params }: ListedEvent,
  { leading }: EventsQuery,
): EventPlace {
  const value = leading?.value === null ? String(params[leading.column.name]) : null;
  return { block_number, transaction_index, log_index, value };
}
