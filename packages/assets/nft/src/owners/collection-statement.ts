import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import {
  isSubjectBuilt,
  isUncovered,
  readSubject,
  type SubjectColumns,
  type SubjectCoverage,
  subjectColumns,
  subjectCoverage,
  subjectHistory,
} from '@chainstead/pages';
import { nftCollectionOwners } from '../transfers/collection-owners.ts';

/** `of`: condition of the collection; `isPartial`: transfers are missing or not counted. */
export function collectionStatement(
  chain: Chain,
  contract: Address,
  write: (of: (alias: string) => Sql, isPartial: Sql) => { columns: Sql; rows: Sql; orderBy?: Sql },
): Sql {
  const address = sql`${addressBytes(contract)}`;
  const chainId = sql`${chain.id}`;
  const subject = {
    kind: 'contract',
    subject: address,
    chainId,
    dataset: 'nft-transfers',
    states: [nftCollectionOwners],
  } as const;
  const of = (alias: string): Sql =>
    sql`${rawSql(alias)}.token_address = ${address} AND ${rawSql(alias)}.chain_id = ${chainId}`;
  const isPartial = sql`(${isUncovered(subject, chain)} OR NOT ${isSubjectBuilt(chainId, address, nftCollectionOwners)})`;
  const page = write(of, sql`(SELECT is_partial FROM state)`);
  const order = page.orderBy === undefined ? rawSql('') : sql`\nORDER BY ${page.orderBy}`;
  return sql`WITH ${subjectCoverage(subject)}, state AS MATERIALIZED (
  SELECT ${subjectColumns(subject)}, ${isPartial} AS is_partial,
    (SELECT created_block FROM tokens WHERE tokens.address = ${address} AND tokens.chain_id = ${chainId}) AS created_block
  FROM covered LEFT JOIN ${subjectHistory(subject)}
), page AS MATERIALIZED (SELECT true AS is_there, shown.* FROM (${page.rows}) AS shown)
SELECT state.*, page.is_there IS NOT NULL AS is_there, ${page.columns}
FROM state LEFT JOIN page ON true${order}`;
}

export interface CollectionRows<Row> extends SubjectCoverage {
  readonly rows: readonly Row[];
}

export async function readCollectionRows<Row extends object>(
  database: ReadDatabase,
  chain: Chain,
  statement: Sql,
): Promise<CollectionRows<Row>> {
  const rows = await database.select<SubjectColumns & { createdBlock: number | null; isThere: boolean } & Row>(
    statement,
  );
  const [first] = rows;
  return {
    ...readSubject(chain, first, first?.createdBlock ?? chain.firstBlock),
    rows: rows.filter(({ isThere }) => isThere),
  };
}
