import { type ChainId, mergeRanges } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { listCoverage } from '@chainstead/sync/requests';
import type { ScriptedChain } from '@chainstead/testkit';
import { expect } from 'vitest';

/** Exactly the rows of the chain; NFTs whose event looks like a token's leave once their contracts were asked. */
export async function expectTransferRows(
  database: Database,
  chain: ScriptedChain,
  chainId: ChainId,
): Promise<void> {
  const all = { from: 0, to: chain.head };
  const place = (at: { readonly blockNumber: number; readonly logIndex: number }) =>
    `${at.blockNumber} ${at.logIndex}`;
  const rows = await database.query<{ blockNumber: number; logIndex: number }>(
    sql`SELECT block_number, log_index FROM erc20_transfer_sides WHERE chain_id = ${chainId} AND direction <> 1`,
  );
  const unsure = new Set(
    chain
      .expectedTransfers(all)
      .filter(({ nft }) => nft)
      .map(place),
  );
  expect(
    rows
      .map(place)
      .filter((row) => !unsure.has(row))
      .toSorted(),
  ).toEqual(
    chain
      .expectedTransfers(all)
      .filter(({ nft }) => !nft)
      .map(place)
      .toSorted(),
  );
  for (const [, coverage] of Map.groupBy(await listCoverage(database, chainId), ({ dataset }) => dataset))
    expect(mergeRanges(coverage.map(({ range }) => range))).toEqual([all]);
}
