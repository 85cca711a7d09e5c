import {
  isKept,
  isUncovered,
  readSubject,
  type SubjectColumns,
  type SubjectCoverage,
  subjectColumns,
  subjectCoverage,
  subjectHistory,
} from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Bind, type ReadDatabase, type Statement } from '@chainstead/db';
import { nftCollectionOwners } from '../transfers/collection-owners.ts';

/** The dataset whose coverage says what of a collection is known. */
const DATASET = 'nft-transfers';

/** What a statement shows beside what is known of the collection. */
export interface CollectionPage {
  /** Columns of `page`, of which `is_there` is added. */
  readonly columns: string;
  /** A query of a page's rows. */
  readonly rows: string;
  readonly orderBy?: string;
}

/**
 * A statement about a collection: coverage and history of the contract, with rows of what is kept of it. Its key is bound first, so `of` says
 * that rows of a table are the collection's. Where `isPartial` is true, transfers of it are missing or not counted yet.
 */
export function collectionStatement(
  chain: Chain,
  contract: Address,
  write: (bind: Bind, of: (alias: string) => string, isPartial: string) => CollectionPage,
): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const address = bind(addressBytes(contract));
  const chainId = bind(chain.id);
  const subject = {
    kind: 'contract',
    subject: address,
    chainId,
    dataset: DATASET,
    states: [nftCollectionOwners],
  } as const;
  const of = (alias: string): string => `${alias}.token_address = ${address} AND ${alias}.chain_id = ${chainId}`;
  const isPartial = `(${isUncovered(subject, chain)} OR NOT ${isKept(chainId, address, nftCollectionOwners)})`;
  const page = write(bind, of, '(SELECT is_partial FROM state)');
  // Each by itself: on a cluster the page comes from the node that has the collection, the rest is the coordinator's own.
  const text = `WITH ${subjectCoverage(subject)}, state AS MATERIALIZED (
  SELECT ${subjectColumns(subject)}, ${isPartial} AS is_partial,
    (SELECT created_block FROM tokens WHERE tokens.address = ${address} AND tokens.chain_id = ${chainId}) AS created_block
  FROM covered LEFT JOIN ${subjectHistory(subject)}
), page AS MATERIALIZED (SELECT true AS is_there, shown.* FROM (${page.rows}) AS shown)
SELECT state.*, page.is_there IS NOT NULL AS is_there, ${page.columns}
FROM state LEFT JOIN page ON true${page.orderBy === undefined ? '' : `\nORDER BY ${page.orderBy}`}`;
  return { text, values };
}

/** Columns of every row. */
interface StateColumns extends SubjectColumns {
  readonly created_block: number | null;
  readonly is_there: boolean;
}

/** What a statement about a collection gave. */
export interface CollectionRows<Row> extends SubjectCoverage {
  readonly rows: readonly Row[];
}

/** Runs a {@link collectionStatement}, whose page has these columns. */
export async function readCollectionRows<Row extends object>(
  database: ReadDatabase,
  chain: Chain,
  { text, values }: Statement,
): Promise<CollectionRows<Row>> {
  // One row without a page's columns is given where the page is empty.
  const found = await database.select<StateColumns & Row>(text, values);
  const [first] = found;
  return {
    ...readSubject(chain, first, first?.created_block ?? chain.firstBlock),
    rows: found.filter(({ is_there }) => is_there),
  };
}
