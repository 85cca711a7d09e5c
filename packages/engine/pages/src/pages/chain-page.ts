import type { Chain } from '@chainstead/chains';
import { joinSql, type KeysetOrder, type ReadDatabase, rawSql, type Sql, sql, where } from '@chainstead/db';
import { type PackedRows, type PackedTexts, readPackedPage } from '@chainstead/db/packed-rows';
import { type Indexed, type IndexedColumns, readIndexed } from '../coverage/indexed.ts';
import type { CoveredSubject } from '../coverage/subject-coverage.ts';
import type { ChainOrder, Position, PositionColumns } from './chain-order.ts';
import { blocksOf, type PageBlock, readBlocks, readConsistentPage } from './page-blocks.ts';
import { type PageBounds, type PageRange, pageRange, type ScanRange, scanRange } from './page-bounds.ts';

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
}

export interface ChainPage<Row, At, R extends Related> {
  statement(select?: Sql): Sql;
  /** @throws {InconsistentPageError} if a row repeatedly lacks its block */
  read(database: ReadDatabase): Promise<PageOfRows<Row, At> & Books<R>>;
}

/** A page of a list in the order of the chain: its rows and all related data in one statement. */
export function chainPage<Row extends { readonly block_number: number }, At, R extends Related>(
  list: ChainList<Row, At, R>,
): ChainPage<Row, At, R> {
  const { limit, pinnedBlock } = list.query;
  const statement = (select = list.rows.select) => statementOf(list, select);
  const read = async (database: ReadDatabase) => {
    const { rows, page } = await readPackedPage<Row, PageColumns<At>>(database, list.rows, statement);
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
    };
  };
  return { statement, read: (database) => readConsistentPage(() => read(database)) };
}

interface PageColumns<At> extends IndexedColumns, PackedTexts, Readonly<Record<string, unknown>> {
  readonly newest: number | null;
  readonly stop: At | null;
  readonly blocks: string | null;
}

function statementOf<Row, At, R extends Related>(list: ChainList<Row, At, R>, select: Sql): Sql {
  const { chain, range, scan, stop = rawSql('NULL'), ctes = [], related, from = rawSql('page') } = list;
  const columns = Object.entries(related).map(([name, { column }]) => sql`${column} AS ${rawSql(`"${name}"`)}`);
  const blocks = sql`${blocksOf(sql`SELECT block_number FROM page`, chain.id)} AS blocks`;
  const all = [
    ...range.ctes,
    sql`page AS MATERIALIZED (SELECT * FROM (${scan}) AS scanned ${where(range.far)})`,
    ...ctes,
    sql`related AS MATERIALIZED (SELECT ${joinSql([blocks, ...columns], ',\n    ')})`,
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
