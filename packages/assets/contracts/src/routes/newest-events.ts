import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import type { EventTable } from '../tables/event-table.ts';
import { getEvents, type ListedEvent } from './get-events.ts';

export async function readNewestEvents(
  database: ReadDatabase,
  chain: Chain,
  table: EventTable,
  limit: number,
): Promise<readonly ListedEvent[]> {
  const bounds = { fromBlock: null, toBlock: null, fromDate: null, toDate: null, pinnedBlock: null };
  const query = { ...bounds, order: 'DESC', limit, after: null, leading: null, filters: [] } as const;
  return (await getEvents(database, chain, table, query)).rows;
}
