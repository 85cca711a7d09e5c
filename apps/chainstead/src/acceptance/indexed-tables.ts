/** What the tables must hold of a scripted chain, known from its script and from a fresh index, row by row. */
import type { Chain } from '@chainstead/chains';
import { mergeRanges } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { listCoverage } from '@chainstead/sync';
import { createScratchDatabase, type ScriptedChain, serveScriptedChain } from '@chainstead/testkit';
import { expect } from 'vitest';
import { indexFresh, waitUntil } from './indexed-chain.ts';

/** One side of a transfer as text. */
const TRANSFER_SIDES = `
  SELECT concat_ws(' ', block_number, transaction_index, log_index, direction, encode(account, 'hex'),
           encode(counterparty, 'hex'), encode(token, 'hex'), value, encode(transaction_hash, 'hex'),
           encode(block_hash, 'hex'), extract(epoch FROM block_timestamp)::bigint) AS row
    FROM erc20_transfers WHERE chain_id = $1`;

/** Blocks that caused rows. */
const CAUSING_BLOCKS = `
  SELECT concat_ws(' ', block_number, encode(block_hash, 'hex'), extract(epoch FROM block_timestamp)::bigint) AS row
    FROM blocks b WHERE chain_id = $1
     AND EXISTS (SELECT 1 FROM erc20_transfers t WHERE t.chain_id = b.chain_id AND t.block_number = b.block_number)`;

/** Contracts of the rows; what no row mentions any more may stay. */
const TOKENS = `
  SELECT encode(address, 'hex') AS row FROM tokens k WHERE chain_id = $1
     AND EXISTS (SELECT 1 FROM erc20_transfers t WHERE t.chain_id = k.chain_id AND t.token = k.address)`;

const bare = (hex: string): string => hex.slice(2);

/** Both sides of every transfer that the script meant, in the words of the query above. */
function expectedSides(chain: ScriptedChain, from: number, to: number): string[] {
  return chain.expectedTransfers({ from, to }).flatMap((transfer) => {
    const side = (account: string, counterparty: string, direction: number): string =>
      [
        transfer.blockNumber,
        transfer.transactionIndex,
        transfer.logIndex,
        direction,
        bare(account),
        bare(counterparty),
        bare(transfer.token),
        transfer.value,
        bare(transfer.transactionHash),
        bare(transfer.blockHash),
        transfer.blockTimestamp,
      ].join(' ');
    if (transfer.from === transfer.to) return [side(transfer.from, transfer.to, 2)];
    return [side(transfer.from, transfer.to, 0), side(transfer.to, transfer.from, 1)];
  });
}

/** The rows of a query over one chain, sorted. */
async function rowsOf(database: Database, query: string, chainId: number): Promise<string[]> {
  const rows = await database.query<{ row: string }>(query, [chainId]);
  return rows.map(({ row }) => row).toSorted();
}

/** The tables of one chain as text, sorted: facts, no clocks, no job ids. */
export async function dumpTables(
  database: Database,
  chain: Chain,
): Promise<Readonly<Record<string, readonly string[]>>> {
  return {
    transfers: await rowsOf(database, TRANSFER_SIDES, chain.id),
    blocks: await rowsOf(database, CAUSING_BLOCKS, chain.id),
    tokens: await rowsOf(database, TOKENS, chain.id),
    covered: mergeRanges((await listCoverage(database, chain.id)).map(({ range }) => range)).map(
      ({ from, to }) => `${from}-${to}`,
    ),
  };
}

/** The tables hold exactly what the script meant, from one block to the head. */
export async function expectTruth(database: Database, facts: Chain, chain: ScriptedChain, from = 1): Promise<void> {
  const tables = await dumpTables(database, facts);
  const transfers = chain.expectedTransfers({ from, to: chain.head });
  expect(tables.transfers).toEqual(expectedSides(chain, from, chain.head).toSorted());
  const blocks = new Set(transfers.map((one) => `${one.blockNumber} ${bare(one.blockHash)} ${one.blockTimestamp}`));
  expect(tables.blocks).toEqual([...blocks].toSorted());
  expect(tables.tokens).toEqual([...new Set(transfers.map(({ token }) => bare(token)))].toSorted());
  expect(tables.covered).toEqual([`${from}-${chain.head}`]);
}

/** The tables are what an undisturbed index of the chain as it is now gives. */
export async function expectEqualToFreshIndex(
  database: Database,
  facts: Chain,
  chain: ScriptedChain,
  from = 1,
): Promise<void> {
  const fresh = await createScratchDatabase();
  const node = await serveScriptedChain(chain);
  try {
    await indexFresh({ chain: facts, url: node.url, database: fresh.database, from, to: chain.head });
    expect(await dumpTables(database, facts)).toEqual(await dumpTables(fresh.database, facts));
  } finally {
    await node.close();
    await fresh.drop();
  }
}

/** Waits until the tip is indexed and nothing from `from` on is uncovered, or (when asked for) unproven. */
export async function untilIndexed(
  database: Database,
  facts: Chain,
  chain: ScriptedChain,
  options: { readonly from?: number; readonly proven?: boolean; readonly timeoutMs?: number } = {},
): Promise<void> {
  const { from = 1, proven = false, timeoutMs } = options;
  await waitUntil(async () => {
    const [state] = await database.query<{ checkpoint: number | null; hash: string | null; why: string | null }>(
      `SELECT checkpoint, encode(checkpoint_hash, 'hex') AS hash, coalesce(stop_message, stall_reason) AS why
         FROM sync_chains WHERE chain_id = $1`,
      [facts.id],
    );
    if (state === undefined) return 'the chain has no state yet';
    if (`0x${state.hash}` !== chain.blockAt(chain.head)?.hash)
      return `the checkpoint is ${state.checkpoint} of ${chain.head}: ${state.why ?? 'no reason given'}`;
    const coverage = await listCoverage(database, facts.id);
    const covered = mergeRanges(coverage.map(({ range }) => range));
    const [only, more] = covered;
    if (only?.from !== from || only.to !== chain.head || more !== undefined)
      return `covered are ${JSON.stringify(covered)} of ${from}-${chain.head}: ${state.why ?? 'no reason given'}`;
    const open = coverage.filter(({ proof }) => proof !== 'receipts');
    return proven && open.length > 0 ? `${JSON.stringify(open)} are not proven` : null;
  }, timeoutMs);
}
