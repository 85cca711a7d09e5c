import type { Chain } from '@chainstead/chains';
import { type Address, defineError, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, hexText, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import type { CommittedBlocks } from '@chainstead/sync/datasets';
import type { ChildSet } from '../definitions/child-sets.ts';
import { REVISION } from '../definitions/contract-definition.ts';
import type { EventTable } from '../tables/event-table.ts';
import { MISSING } from '../tables/missing-tables.ts';
import { placeOfLine } from '../tables/row-table.ts';

export class ChildrenUnknownError extends defineError(
  'CONTRACT_CHILDREN_UNKNOWN',
  ({ table }: ChildSet, chain: Chain) => ({
    message: `Blocks of ${table} are missing on ${chain.key}, so that the children of the factory are not known yet`,
    remedy: 'Nothing: events of the children are read once the events of the factory are complete',
    retryable: true,
    facts: {},
  }),
) {}

export interface Creation {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

interface RowsOfChildren extends Pick<EventTable, 'kind'> {
  readonly children: ChildSet;
}

/** Under the commit lock: this commit's rows are visible. @throws ChildrenUnknownError */
export async function linesOfChildren(
  transaction: Transaction,
  chain: Chain,
  { children, kind }: RowsOfChildren,
  { range, datasets }: CommittedBlocks,
  lines: readonly string[],
): Promise<readonly string[]> {
  const to = datasets.has(children.table) ? range.from - 1 : range.to;
  if (!(await isComplete(transaction, chain.id, children, to))) throw new ChildrenUnknownError(children, chain);
  if (lines.length === 0) return lines;
  const placed = lines.map((line) => ({ line, ...placeOfLine(line) }));
  const created = await readCreations(
    transaction,
    chain,
    children,
    new Set(placed.map(({ emitter }) => emitter)),
  );
  return placed.flatMap(({ line, emitter, ...place }) => {
    const creation = created.get(emitter);
    return creation !== undefined && isCounted(kind, children.childFrom, place, creation) ? [line] : [];
  });
}

/** `log`: calls count from the next transaction, since a log does not date its calls. */
function isCounted(
  kind: EventTable['kind'],
  childFrom: ChildSet['childFrom'],
  { block, transaction, log }: Omit<ReturnType<typeof placeOfLine>, 'emitter'>,
  creation: Creation,
): boolean {
  if (block !== creation.blockNumber) return block > creation.blockNumber;
  if (childFrom === 'block') return true;
  if (transaction !== creation.transactionIndex) return transaction > creation.transactionIndex;
  return childFrom === 'transaction' || (kind === 'event' && isAfter(creation, block, log));
}

export function isAfter({ blockNumber: since, logIndex: after }: Creation, block: number, log: number): boolean {
  return block > since || (block === since && log > after);
}

export async function isComplete(
  database: Pick<Database, 'query'>,
  chainId: number,
  { table, firstBlock }: ChildSet,
  to: number,
): Promise<boolean> {
  if (to < firstBlock) return true;
  const [row] = await database.query<{ isComplete: boolean | null }>(
    sql`SELECT range_agg(int8range(first_block, last_block, '[]')) @> int8range(${firstBlock}, ${to}, '[]') AS is_complete
       FROM sync_ranges WHERE chain_id = ${chainId} AND dataset = ${table}`,
  );
  return row?.isComplete === true;
}

export async function readCreations(
  database: Pick<Database, 'query'>,
  chain: Chain,
  children: ChildSet,
  addresses: ReadonlySet<Address>,
): Promise<ReadonlyMap<Address, Creation>> {
  const rows = await database.query<Creation & { readonly child: string }>(
    creationsStatement(chain, children, [...addresses]),
  );
  return new Map(rows.map(({ child, ...creation }) => [parseAddress(child), creation]));
}

export async function readCompleteChildren(database: Pick<Database, 'query'>): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ key: string }>(COMPLETE);
  return new Set(rows.map(({ key }) => key));
}

/** Changes with definitions, missing tables and known children. One statement: it is read often. */
export async function readContractsState(database: Pick<Database, 'query'>): Promise<string> {
  const [row] = await database.query<{ state: string }>(STATE);
  return row?.state ?? '';
}

/** Unfollowed chain: up to the highest block with events. One statement: the checkpoint moves. */
const COMPLETE = sql`SELECT chain_id || ' ' || dataset AS key
  FROM contract_definitions
  CROSS JOIN LATERAL (VALUES (factory), (upgrades)) AS naming (item)
  CROSS JOIN LATERAL (
    SELECT 'contracts.' || name || '_' || (item ->> 'event') AS dataset, (item ->> 'firstBlock')::bigint AS first) AS made
  WHERE item IS NOT NULL AND suspended_reason IS NULL AND (
    SELECT range_agg(int8range(covered.first_block, covered.last_block, '[]')) @> int8range(made.first, greatest(made.first, 1 + coalesce(
        (SELECT checkpoint FROM sync_chains AS known WHERE known.chain_id = contract_definitions.chain_id), max(covered.last_block))))
      FROM sync_ranges AS covered WHERE covered.chain_id = contract_definitions.chain_id AND covered.dataset = made.dataset)
  ORDER BY key`;

const STATE = sql`SELECT jsonb_build_array((${REVISION}), ARRAY(${MISSING}), ARRAY(${COMPLETE}))::text AS state`;

/** One index entry per address. */
export function creationsStatement(
  { id }: Pick<Chain, 'id'>,
  { table, column }: Pick<ChildSet, 'table' | 'column'>,
  addresses: readonly Address[],
): Sql {
  const child = rawSql(column);
  return sql`SELECT ${hexText('given.child')} AS child, created.block_number, created.transaction_index, created.log_index
       FROM unnest(${addresses.map(addressBytes)}::bytea[]) AS given (child)
       CROSS JOIN LATERAL (
         SELECT block_number, transaction_index, log_index FROM ${rawSql(table)} AS creation
          WHERE creation.${child} = given.child AND chain_id = ${id}
          ORDER BY creation.${child}, chain_id, block_number, transaction_index, log_index LIMIT 1) AS created`;
}
