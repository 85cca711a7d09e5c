import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import {
  type Indexed,
  readSubject,
  type SubjectColumns,
  type SubjectCoverage,
  subjectColumns,
  subjectCoverage,
  subjectHistory,
} from '@chainstead/pages';

export async function getCollectionCoverage(
  database: Pick<Database, 'query'>,
  chain: Chain,
  addresses: Iterable<Address>,
): Promise<ReadonlyMap<Address, SubjectCoverage>> {
  const coverage = new Map<Address, SubjectCoverage>();
  for (const address of new Set(addresses)) {
    const contract = sql`${addressBytes(address)}::bytea`;
    const subject = { kind: 'contract', subject: contract, chainId: chain.id, dataset: 'nft-transfers' } as const;
    const [row] = await database.query<SubjectColumns & { readonly createdBlock: number | null }>(
      sql`WITH ${subjectCoverage(subject)}
SELECT ${subjectColumns(subject)}, (SELECT created_block FROM tokens WHERE address = ${contract} AND chain_id = ${chain.id}) AS created_block
FROM covered LEFT JOIN ${subjectHistory(subject)}`,
    );
    coverage.set(address, readSubject(chain, row, row?.createdBlock ?? chain.firstBlock));
  }
  return coverage;
}

export function coveredOfAll(coverage: ReadonlyMap<Address, SubjectCoverage>): Indexed {
  const all = [...coverage.values()].map(({ indexed }) => indexed);
  const from = all.map(({ fromBlock }) => fromBlock ?? Number.POSITIVE_INFINITY);
  const to = all.map(({ toBlock }) => toBlock ?? Number.NEGATIVE_INFINITY);
  const [fromBlock, toBlock] = [Math.max(...from), Math.min(...to)];
  const complete = all.every((indexed) => indexed.complete);
  return Number.isFinite(fromBlock) && fromBlock <= toBlock
    ? { fromBlock, toBlock, complete }
    : { fromBlock: null, toBlock: null, complete };
}
