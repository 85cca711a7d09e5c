import { createChainRegistry } from '@chainstead/chains';
import { type Address, silentLogger, systemClock } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { erc20Transfers } from '@chainstead/erc20/requests';
import { nftTransfers } from '@chainstead/nft/requests';
import { createKnownContracts, enqueueHistory } from '@chainstead/sync';
import type { Dataset } from '@chainstead/sync/datasets';
import { readHistory } from '@chainstead/sync/ingest';
import { createScriptedChain, examplePool, serveScriptedChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';

const HISTORY = { from: 0, to: 119 };
const scratch = scratchOfFile();

/** Reads the history of one wallet on a chain that differs only by its ID. */
async function readWallet(
  chainId: number,
  datasets: readonly Dataset[],
  { retentionBlocks = null, ...limits }: { retentionBlocks?: number | null; chunkBytesMax?: number } = {},
) {
  const scripted = createScriptedChain({ seed: 7, chainId, wallets: 12, finalityDepth: 0 });
  scripted.mine(160);
  const node = await serveScriptedChain(scripted);
  const key = `history-${chainId}`;
  const chain = createChainRegistry({ additional: [{ key, id: chainId, reorgDepthMax: 8 }] }).get(chainId);
  const pool = await examplePool(chain, node.url);
  const [wallet] = scripted.wallets;
  if (wallet === undefined) throw new Error('The chain has no wallet');
  const { database } = scratch;
  const firstFollowed = HISTORY.to + 1;
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed) VALUES (${chainId}, ${firstFollowed}, ${firstFollowed})`,
  );
  const subject = { chainId: chain.id, kind: 'wallet', address: wallet } as const;
  await enqueueHistory(database, { subject, requestedBy: null, perKey: 1, maxCalls: 1_000 });
  const before = node.counters.snapshot().calls.eth_getLogs ?? 0;
  const outcome = await readHistory(
    {
      chain,
      pool,
      database,
      datasets,
      knownContracts: createKnownContracts(),
      clock: systemClock,
      logger: silentLogger(),
      retention: { blocks: retentionBlocks, since: null },
      maxCalls: 1_000,
      sliceMs: 60_000,
      ...limits,
    },
    subject,
    new AbortController().signal,
  );
  const calls = (node.counters.snapshot().calls.eth_getLogs ?? 0) - before;
  await pool.close();
  await node.close();
  return { scripted, wallet, outcome, calls };
}

async function transfersOf(chainId: number, wallet: Address): Promise<string[]> {
  const rows = await scratch.database.query<{ place: string }>(
    sql`SELECT concat_ws(' ', block_number, log_index, '0x' || encode(token, 'hex'), value) AS place FROM erc20_transfer_sides
      WHERE chain_id = ${chainId} AND account = ${addressBytes(wallet)} ORDER BY block_number, transaction_index, log_index`,
  );
  return rows.map(({ place }) => place);
}

const nftRows = (chainId: number) =>
  scratch.database.query(
    sql`SELECT block_number, log_index, item, token_address, token_id, amount FROM nft_transfers WHERE chain_id = ${chainId}
      ORDER BY block_number, transaction_index, log_index, item`,
  );

test('the calls that bring the NFTs of a wallet bring its ERC-20 transfers too', async () => {
  const nfts = await readWallet(1_400_001, [nftTransfers]);
  const both = await readWallet(1_400_002, [erc20Transfers, nftTransfers]);
  expect([nfts.outcome, both.outcome]).toEqual(['done', 'done']);
  expect(both.calls).toBe(nfts.calls);
  const { scripted, wallet } = both;
  const expected = scripted
    .expectedTransfers(HISTORY)
    .filter(({ from, to }) => from === wallet || to === wallet)
    .map((row) => `${row.blockNumber} ${row.logIndex} ${row.token} ${row.value}`);
  expect(expected.length).toBeGreaterThan(10);
  expect(await transfersOf(1_400_002, wallet)).toEqual(expected);
  expect(await nftRows(1_400_002)).toEqual(await nftRows(1_400_001));
  const ranges = await scratch.database.query(
    sql`SELECT dataset, first_block, last_block FROM subject_ranges WHERE chain_id = 1400002 ORDER BY dataset`,
  );
  expect(ranges).toEqual([
    { dataset: 'erc20-transfers', firstBlock: 0, lastBlock: 119 },
    { dataset: 'nft-transfers', firstBlock: 0, lastBlock: 119 },
  ]);
});

test('what is dropped as too old is not read for a wallet either', async () => {
  await readWallet(1_400_003, [erc20Transfers, nftTransfers], { retentionBlocks: 20 });
  const ranges = await scratch.database.query(
    sql`SELECT dataset, first_block, last_block FROM subject_ranges WHERE chain_id = 1400003 ORDER BY dataset`,
  );
  expect(ranges).toEqual([
    { dataset: 'erc20-transfers', firstBlock: 100, lastBlock: 119 },
    { dataset: 'nft-transfers', firstBlock: 0, lastBlock: 119 },
  ]);
});

test('a chunk with too many bytes of logs is read in smaller ones', async () => {
  const { scripted, wallet, outcome, calls } = await readWallet(1_400_011, [erc20Transfers], {
    chunkBytesMax: 10_000,
  });
  expect(outcome).toBe('done');
  // One call for each direction of transfers is enough for all blocks.
  expect(calls).toBeGreaterThan(2);
  const expected = scripted.expectedTransfers(HISTORY).filter(({ from, to }) => from === wallet || to === wallet);
  expect(await transfersOf(1_400_011, wallet)).toHaveLength(expected.length);
  const ranges = await scratch.database.query(
    sql`SELECT first_block, last_block FROM subject_ranges WHERE chain_id = 1400011`,
  );
  expect(ranges).toEqual([{ firstBlock: 0, lastBlock: 119 }]);
});
