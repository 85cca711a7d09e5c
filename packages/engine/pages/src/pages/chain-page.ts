import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  expectedTrue,
  joinSql,
  type KeysetOrder,
  type ReadDatabase,
  rawSql,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import { type PackedRows, type PackedTexts, readPackedPage } from '@chainstead/db/packed-rows';
import { type Indexed, type IndexedColumns, readIndexed } from '@chainstead/http';
import {
  type ChainInSql,
  coverage,
  fromDateBound,
  hasContradicted,
  isComplete,
  toDateBound,
} from '../coverage/block-span.ts';
import {
  type CoveredSubject,
  firstBlockOf,
  SUBJECT_RANGES,
  subjectCoverage,
} from '../coverage/subject-coverage.ts';
import {
  type AddressLabel,
  LABEL_REVISION,
  type LabelEntry,
  labelBookOf,
  labelsOf,
  readLabels,
} from '../labels/label-book.ts';
import type { ChainOrder, Position, PositionColumns } from './chain-order.ts';
import { blocksOf, type PageBlock, readBlocks, readConsistentPage } from './page-blocks.ts';

export interface ChainQuery<At> extends PageBounds {
  readonly order: KeysetOrder;
  readonly limit: number;
  /** The last row of the page before; null: first page. */
  readonly after: At | null;
}

export interface ChainRange extends PageRange, ScanRange {}

/** For tables whose rows have no time: dates bound their blocks. */
export function chainRange<Columns extends PositionColumns>(
  chain: Chain,
  of: string | CoveredSubject,
  query: ChainQuery<Position<Columns>>,
  order: ChainOrder<Columns>,
): ChainRange {
  const range = pageRange(chain, chain.id, of, query, null);
  const after = query.after && order.after(query.order, query.after);
  return { ...range, ...scanRange(query.order, range, after) };
}

/** A column that reads the CTE `page`, and the reader of its value. */
interface RelatedColumn {
  readonly column: Sql;
  read(value: never): unknown;
}

type Related = Readonly<Record<string, RelatedColumn>>;
type Books<R extends Related> = { readonly [Name in keyof R]: ReturnType<R[Name]['read']> };

interface ChainList<Row, At, R extends Related> {
  readonly chain: Pick<Chain, 'id'>;
  readonly query: Pick<ChainQuery<unknown>, 'limit' | 'pinnedBlock'>;
  readonly order: { positionOf(row: NoInfer<Row>): At };
  readonly range: Pick<ChainRange, 'ctes' | 'complete' | 'far'>;
  /** `limit` + 1 rows of `range.scan`. */
  readonly scan: Sql;
  /** Ranges with all rows of the subject; none for runs that begin with the newest row. */
  readonly newest: readonly SubjectRows[];
  /** The last row that a search without a full page read, as JSON of its position. @default none */
  readonly stop?: Sql;
  /** CTEs after `page`. */
  readonly ctes?: readonly Sql[];
  readonly related: R;
  /** Whose labels the page shows: an array of the CTE `page`. @default none */
  readonly labelled?: Sql;
  readonly rows: PackedRows<Row>;
  /** @default page */
  readonly from?: Sql;
}

export interface SubjectRows {
  readonly from: string;
  readonly of: readonly Sql[];
}

/** A descending run begins with the newest row: it needs no search for it. */
export function newestOfRun(order: KeysetOrder, ranges: readonly SubjectRows[]): readonly SubjectRows[] {
  return order === 'ASC' ? ranges : [];
}

interface PageOfRows<Row, At> {
  readonly rows: readonly Row[];
  /** `upperBound`: the run's highest block. Null on the last page. */
  readonly next: { readonly position: At; readonly upperBound: number } | null;
  /** The search stopped before the page was full. */
  readonly isStopped: boolean;
  readonly indexed: Indexed;
  blockOf(row: { readonly block_number: number }): PageBlock;
  /** Null for an account that is not in `labelled`. */
  labelOf(account: Address): AddressLabel;
}

interface ChainPage<Row, At, R extends Related> {
  statement(select?: Sql): Sql;
  /** @throws {InconsistentPageError} if a row repeatedly lacks its block */
  read(database: ReadDatabase): Promise<PageOfRows<Row, At> & Books<R>>;
}

/** A page of a list in the order of the chain: its rows and all related data in one statement. */
export function chainPage<Row extends { readonly block_number: number }, At, R extends Related>(
  list: ChainList<Row, At, R>,
): ChainPage<Row, At, R> {
  const { limit, pinnedBlock } = list.query;
  const looksUp = list.labelled === undefined ? rawSql('NULL::json') : labelsOf(list.labelled, list.chain.id);
  const statement = (select = list.rows.select) => statementOf(list, select, looksUp);
  /** @param isKept the page's labels are cached */
  const read = async (database: ReadDatabase, isKept: boolean): Promise<PageOfRows<Row, At> & Books<R>> => {
    const labels = isKept ? LABEL_REVISION : looksUp;
    const { rows, page } = await readPackedPage<Row, PageColumns<At>>(database, list.rows, (select) =>
      statementOf(list, select, labels),
    );
    const labelOf =
      typeof page.labels === 'number'
        ? labelBookOf(database).labelsAt(list.chain, page.labels)
        : readLabels(page.labels);
    // Other labels were imported since they were cached.
    if (labelOf === null) return read(database, false);
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    const position = last === undefined ? page.stop : list.order.positionOf(last);
    const upperBound = pinnedBlock ?? Math.max(page.newest ?? 0, ...rows.map((row) => row.block_number));
    return {
      ...readRelated(list.related, page),
      rows: rows.slice(0, limit),
      next: position === null ? null : { position, upperBound },
      isStopped: page.stop !== null,
      indexed: readIndexed(page),
      blockOf: readBlocks(page.blocks, rows),
      labelOf,
    };
  };
  const isKept = (database: ReadDatabase): boolean =>
    list.labelled !== undefined && labelBookOf(database).isKept(database);
  return { statement, read: (database) => readConsistentPage(() => read(database, isKept(database))) };
}

interface PageColumns<At> extends IndexedColumns, PackedTexts, Readonly<Record<string, unknown>> {
  readonly newest: number | null;
  readonly stop: At | null;
  readonly blocks: string | null;
  /** A number: their revision. */
  readonly labels: number | readonly LabelEntry[] | null;
}

function statementOf<Row, At, R extends Related>(list: ChainList<Row, At, R>, select: Sql, labels: Sql): Sql {
  const { chain, range, scan, stop = rawSql('NULL'), ctes = [], related, from = rawSql('page') } = list;
  const columns = Object.entries(related).map(([name, { column }]) => sql`${column} AS ${rawSql(`"${name}"`)}`);
  const blocks = sql`${blocksOf(sql`SELECT block_number FROM page`, chain.id)} AS blocks`;
  const all = [
    ...range.ctes,
    sql`page AS MATERIALIZED (SELECT * FROM (${scan}) AS scanned ${where(range.far)})`,
    ...ctes,
    sql`related AS MATERIALIZED (SELECT ${joinSql([blocks, sql`${labels} AS labels`, ...columns], ',\n    ')})`,
  ];
  return sql`WITH ${joinSql(all)}
SELECT covered.indexed_from, covered.indexed_to, ${range.complete} AS complete, ${newestOf(list)} AS newest,
  ${stop} AS stop, related.*, packed.*
FROM covered CROSS JOIN related CROSS JOIN (SELECT ${select} FROM ${from}) AS packed`;
}

/** Rows may lie above the covered blocks: the first page's run includes them. */
function newestOf<Row, At, R extends Related>({ query, newest }: ChainList<Row, At, R>): Sql {
  if (query.pinnedBlock !== null) return rawSql('NULL::bigint');
  const above = sql`block_number > coalesce((SELECT indexed_to FROM covered), -1)`;
  const blocks = newest.map(
    ({ from, of }) => sql`(
  SELECT block_number FROM ${rawSql(from)} ${where([...of, above])} ORDER BY block_number DESC LIMIT 1)`,
  );
  // Invariant: PAGE-KEYSET
  return sql`greatest(${joinSql([rawSql('covered.indexed_to'), ...blocks])})`;
}

function readRelated<R extends Related>(related: R, page: PageColumns<unknown>): Books<R> {
  const books = Object.entries(related).map(([name, { read }]) => [name, read(page[name] as never)]);
  // The statement has a column for each reader, which the compiler can't compute.
  return Object.fromEntries(books) as Books<R>;
}

/** Every bound that is not null applies; blocks and times are inclusive. */
export interface PageBounds {
  readonly fromBlock: number | null;
  readonly toBlock: number | null;
  readonly fromDate: Date | null;
  readonly toDate: Date | null;
  /** The newest block at the first request of a run: later blocks stay out. */
  readonly pinnedBlock: number | null;
}

export interface PageRange {
  /** For `WITH`: those of dates, and `covered` with `indexed_from` and `indexed_to`. */
  readonly ctes: readonly Sql[];
  readonly lower: readonly Sql[];
  readonly upper: readonly Sql[];
  readonly lowest: Sql | null;
  readonly highest: Sql | null;
  /** All blocks of the bounds are indexed, as their headers say; reads `covered`. */
  readonly complete: Sql;
}

/** @param time a row's time; null if `blocks` has the block of every row */
export function pageRange(
  chain: Chain,
  chainId: ChainInSql,
  of: string | CoveredSubject,
  bounds: PageBounds,
  time: Sql | null = rawSql('block_timestamp'),
): PageRange {
  const bound = (value: number | Date | null): Sql | null => (value === null ? null : sql`${value}`);
  const fromDate = bound(bounds.fromDate);
  const toDate = bound(bounds.toDate);
  const fromBlock = bound(bounds.fromBlock);
  const toBlock = bound(bounds.toBlock);
  // Invariant: PAGE-KEYSET
  const pinned = bound(bounds.pinnedBlock);
  const [fromDateBlock, toDateBlock] = [sql`(SELECT block FROM from_date)`, sql`(SELECT block FROM to_date)`];
  const lowest = bigints([fromBlock, fromDate && fromDateBlock]);
  const highest = bigints([toBlock, pinned, toDate && toDateBlock]);
  // A requested block counts as it is. Otherwise the newest known block is the end.
  const first =
    typeof of === 'string' ? sql`${chain.firstBlock}` : firstBlockOf(of, sql`${chain.firstBlock}::bigint`);
  // Blocks of an emitter end at its last request, which may be far below the newest block.
  const newest = rawSql(
    typeof of !== 'string' && of.kind === 'emitter' ? 'covered.chain_to' : 'covered.indexed_to',
  );
  const knownTo = sql`least(${joinSql(bigints([toDate && sql`(SELECT known_block FROM to_date)`, pinned, rawSql('NULL')]))})`;
  const span = {
    lowest: sql`greatest(${joinSql(bigints([fromBlock, fromDate && sql`(SELECT known_block FROM from_date)`, first]))})`,
    highest: sql`coalesce(${joinSql(bigints([toBlock, knownTo, newest]))})`,
  };
  const dataset = typeof of === 'string' ? of : of.dataset;
  // Invariant: PAGE-COMPLETE
  const isWhole = sql`${isComplete(span)} AND NOT ${hasContradicted(chainId, dataset, span)}`;
  return {
    ctes: [
      ...(fromDate === null ? [] : [fromDateBound(chainId, fromDate)]),
      ...(toDate === null ? [] : [toDateBound(chainId, toDate)]),
      ...(typeof of === 'string' ? [coverage(chainId, of)] : [subjectCoverage(of), SUBJECT_RANGES]),
    ],
    lower: [
      ...(fromBlock === null ? [] : [sql`block_number >= ${fromBlock}::bigint`]),
      ...(fromDate === null ? [] : [sql`block_number >= ${fromDateBlock}`]),
      ...(fromDate === null || time === null ? [] : [expectedTrue(sql`${time} >= ${fromDate}`)]),
    ],
    upper: [
      ...[toBlock, pinned].flatMap((block) => (block === null ? [] : [sql`block_number <= ${block}::bigint`])),
      ...(toDate === null ? [] : [sql`block_number <= ${toDateBlock}`]),
      ...(toDate === null || time === null ? [] : [expectedTrue(sql`${time} <= ${toDate}`)]),
    ],
    lowest: lowest.length === 0 ? null : sql`greatest(${joinSql(lowest)})`,
    highest: highest.length === 0 ? null : sql`least(${joinSql(highest)})`,
    // Without any block of the chain, its height is unknown.
    complete: typeof of === 'string' ? sql`(${isWhole})` : sql`(covered.chain_to IS NOT NULL AND ${isWhole})`,
  };
}

export interface ScanRange {
  readonly scan: readonly Sql[];
  readonly far: readonly Sql[];
}

/** One side only: for both the planner expects next to no rows. @param after null: first page */
export function scanRange(
  order: KeysetOrder,
  { lower, upper }: Pick<PageRange, 'lower' | 'upper'>,
  after: readonly Sql[] | null,
): ScanRange {
  const [near, far] = order === 'DESC' ? [upper, lower] : [lower, upper];
  const start = after ?? near;
  return { scan: start.length === 0 ? far : start, far };
}

function bigints(blocks: readonly (Sql | null)[]): readonly Sql[] {
  return blocks.flatMap((block) => (block === null ? [] : [sql`${block}::bigint`]));
}
