import type { Chain } from '@chainstead/chains';
import type { Hash, Log } from '@chainstead/core';
import { getTableColumns } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Dataset, DecodeContext } from './dataset.ts';
import { defineTable } from './row-table.ts';

type RowIn<Table extends PgTable> = Readonly<Table['$inferSelect']>;
/** Columns that the log's place does not fill. */
type OwnColumns<Table extends PgTable> = Omit<
  RowIn<Table>,
  'chainId' | 'blockNumber' | 'transactionIndex' | 'logIndex' | 'transactionHash'
>;

interface LogDatasetOptions<Table extends PgTable>
  extends Omit<Dataset<RowIn<Table>>, 'table' | 'decode' | 'wholeBlocks'> {
  readonly table: Table;
  rows(log: Log, context: DecodeContext): OwnColumns<Table> | readonly OwnColumns<Table>[];
  /** A block keeps the last row of each value. */
  readonly lastOfBlock?: keyof RowIn<Table>;
}

/** A dataset whose logs are decoded one by one. The place of a row is its log's. */
export function logDataset<Table extends PgTable>(options: LogDatasetOptions<Table>): Dataset<RowIn<Table>> {
  const { table, rows, lastOfBlock, ...members } = options;
  const hasHash = 'transactionHash' in getTableColumns(table);
  return {
    ...members,
    table: defineTable(table),
    decode(logs, context) {
      const decoded = logs.flatMap((log) => {
        const { blockNumber, transactionIndex, logIndex, transactionHash } = log;
        const place = { chainId: context.chain.id, blockNumber, transactionIndex, logIndex };
        const own: readonly (object | readonly object[])[] = [rows(log, context)];
        // `rows` lacks the columns of the place alone.
        return own
          .flat()
          .map((row) => ({ ...row, ...place, ...(hasHash && { transactionHash }) }) as RowIn<Table>);
      });
      if (lastOfBlock === undefined) return decoded;
      return [...new Map(decoded.map((row) => [`${row.blockNumber} ${row[lastOfBlock]}`, row])).values()];
    },
  };
}

export interface EventRows<Own> {
  readonly topic: Hash;
  rows(log: Log, context: DecodeContext): Own | readonly Own[];
}

/** @param event of `defineEvent` @param toRows gets integers of more than 48 bits as decimal digits */
export function eventRows<Values, Own>(
  event: { readonly topic: Hash; readStored(log: Log): Values | null },
  toRows: (values: Values, log: Log, context: DecodeContext) => Own | readonly Own[],
): EventRows<Own> {
  return {
    topic: event.topic,
    rows: (log, context) => {
      const values = event.readStored(log);
      return values === null ? [] : toRows(values, log, context);
    },
  };
}

interface EventDatasetOptions<Table extends PgTable> extends Omit<LogDatasetOptions<Table>, 'rows' | 'topics'> {
  readonly events: readonly EventRows<OwnColumns<Table>>[];
  /** @default every chain */
  isRead?(chain: Chain): boolean;
}

/** A dataset of events from any contract. Layouts may share a topic. */
export function eventDataset<Table extends PgTable>(options: EventDatasetOptions<Table>): Dataset<RowIn<Table>> {
  const { events, isRead = () => true, ...members } = options;
  const byTopic = Map.groupBy(events, ({ topic }): string | undefined => topic);
  const topics = [...new Set(events.map(({ topic }) => topic))];
  return logDataset<Table>({
    ...members,
    topics: (chain) => (isRead(chain) ? topics : []),
    rows: (log, context) => (byTopic.get(log.topics[0]) ?? []).flatMap((event) => event.rows(log, context)),
  });
}
