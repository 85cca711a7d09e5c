/** What the tables must hold of a scripted chain, known from its script and from a fresh index, row by row. */
import type { Chain } from '@chainstead/chains';
import { type ChainId, mergeRanges, ZERO_ADDRESS } from '@chainstead/core';
import { type Database, type Sql, sql } from '@chainstead/db';
import { keepAllWallets } from '@chainstead/nft/testing';
import { datasetsOf } from '@chainstead/sync/datasets';
import { type Coverage, listCoverage } from '@chainstead/sync/requests';
import {
  createScratchDatabase,
  readTableRows,
  type ScriptedChain,
  serveScriptedChain,
  type TableRows,
} from '@chainstead/testkit';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { expect } from 'vitest';
import { indexFresh, waitUntil } from './indexed-chain.ts';

/** One side of a transfer as text. */
const transferSides = (chainId: ChainId): Sql => sql`
  SELECT concat_ws(' ', block_number, transaction_index, log_index, direction, encode(account, 'hex'),
           encode(counterparty, 'hex'), encode(token, 'hex'), value, encode(transaction_hash, 'hex'),
           encode(block_hash, 'hex'), extract(epoch FROM block_timestamp)::bigint) AS row
    FROM erc20_transfer_sides JOIN blocks USING (chain_id, block_number) WHERE chain_id = ${chainId}`;

/** Contracts of the transfers; what no row mentions any more may stay. */
const contractsOf = (chainId: ChainId): Sql => sql`
  SELECT encode(address, 'hex') AS row FROM tokens k WHERE chain_id = ${chainId}
     AND EXISTS (SELECT 1 FROM erc20_transfer_sides t WHERE t.chain_id = k.chain_id AND t.token = k.address)`;

/** One move of an NFT as text. */
const nftMoves = (chainId: ChainId): Sql => sql`
  SELECT concat_ws(' ', block_number, transaction_index, log_index, item, encode(token_address, 'hex'), token_id,
           encode(from_address, 'hex'), encode(to_address, 'hex'), amount, encode(transaction_hash, 'hex'),
           encode(block_hash, 'hex'), extract(epoch FROM block_timestamp)::bigint) AS row
    FROM nft_transfers JOIN blocks USING (chain_id, block_number) WHERE chain_id = ${chainId}`;

/** Sums of transfers for requested wallets; a row with zero means the same as no row. */
const nftBalances = (chainId: ChainId): Sql => sql`
  SELECT concat_ws(' ', encode(wallet, 'hex'), encode(token_address, 'hex'), token_id, amount) AS row
    FROM nft_wallet_tokens WHERE chain_id = ${chainId} AND amount <> 0`;
const nftHoldings = (chainId: ChainId): Sql => sql`
  SELECT concat_ws(' ', encode(wallet, 'hex'), encode(token_address, 'hex'), ids_held) AS row
    FROM nft_wallet_collections WHERE chain_id = ${chainId} AND ids_held <> 0`;

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

/** Every move of an NFT that the script meant, in the words of the query above. */
function expectedNftMoves(chain: ScriptedChain, from: number, to: number): string[] {
  return chain
    .expectedNftMoves({ from, to })
    .map((move) =>
      [
        move.blockNumber,
        move.transactionIndex,
        move.logIndex,
        move.item,
        bare(move.token),
        move.tokenId,
        bare(move.from),
        bare(move.to),
        move.amount,
        bare(move.transactionHash),
        bare(move.blockHash),
        move.blockTimestamp,
      ].join(' '),
    );
}

/** Balances and holdings by the transfers, in the words of the queries above: sums for ERC-1155, the newest owner for single tokens. */
function expectedBalances(
  chain: ScriptedChain,
  from: number,
  to: number,
): { balances: string[]; holdings: string[] } {
  const several = new Set<string>(
    chain.tokens.flatMap(({ kind, address }) => (kind === 'erc1155' ? [address] : [])),
  );
  const sums = new Map<string, bigint>();
  const add = (account: string, token: string, tokenId: bigint, amount: bigint): void => {
    const key = `${bare(account)} ${bare(token)} ${tokenId}`;
    const before = several.has(token) ? (sums.get(key) ?? 0n) : 0n;
    if (account !== ZERO_ADDRESS) sums.set(key, before + (several.has(token) || amount > 0n ? amount : 0n));
  };
  for (const move of chain.expectedNftMoves({ from, to })) {
    add(move.from, move.token, move.tokenId, -move.amount);
    add(move.to, move.token, move.tokenId, move.amount);
  }
  const held = Object.groupBy(
    [...sums].filter(([, amount]) => amount > 0n),
    ([key]) => key.slice(0, key.lastIndexOf(' ')),
  );
  return {
    balances: [...sums].filter(([, amount]) => amount !== 0n).map(([key, amount]) => `${key} ${amount}`),
    holdings: Object.entries(held).map(([owner, ids]) => `${owner} ${ids?.length}`),
  };
}

/** What is covered of a chain: the same of every dataset that is kept for it, which this makes sure of. */
export async function commonCoverage(database: Database, chain: Chain): Promise<readonly Coverage[]> {
  const coverage = await listCoverage(database, chain.id);
  const [first = [], ...others] = datasetsOf(chain, datasets).map(({ name }) =>
    coverage.filter(({ dataset }) => dataset === name).map(({ dataset: _, ...covered }) => covered),
  );
  for (const other of others) expect(other).toEqual(first);
  return first;
}

/** The rows of every table that the chain's datasets fill, with the derived state for wallets of NFTs. */
export async function dumpTables(database: Database, chain: Chain): Promise<TableRows> {
  await keepAllWallets(database, chain);
  return readTableRows(database, chain.id, datasetsOf(chain, datasets));
}

/** The tables hold exactly what the script meant, from one block to the head. */
export async function expectTruth(
  database: Database,
  facts: Chain,
  chain: ScriptedChain,
  from = 1,
): Promise<void> {
  await keepAllWallets(database, facts);
  const rowsOf = async (query: (chainId: ChainId) => Sql): Promise<string[]> => {
    const rows = await database.query<{ row: string }>(query(facts.id));
    return rows.map(({ row }) => row).toSorted();
  };
  const { balances, holdings } = expectedBalances(chain, from, chain.head);
  expect(await rowsOf(transferSides)).toEqual(expectedSides(chain, from, chain.head).toSorted());
  const tokens = new Set(chain.expectedTransfers({ from, to: chain.head }).map(({ token }) => bare(token)));
  expect(await rowsOf(contractsOf)).toEqual([...tokens].toSorted());
  expect(await rowsOf(nftMoves)).toEqual(expectedNftMoves(chain, from, chain.head).toSorted());
  expect(await rowsOf(nftBalances)).toEqual(balances.toSorted());
  expect(await rowsOf(nftHoldings)).toEqual(holdings.toSorted());
  const covered = mergeRanges((await commonCoverage(database, facts)).map(({ range }) => range));
  expect(covered).toEqual([{ from, to: chain.head }]);
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

/** Waits until the tip is indexed and nothing from `from` on is uncovered, or (if requested) unproven. */
export async function untilIndexed(
  database: Database,
  facts: Chain,
  chain: ScriptedChain,
  options: { readonly from?: number; readonly proven?: boolean; readonly timeoutMs?: number } = {},
): Promise<void> {
  const { from = 1, proven = false, timeoutMs } = options;
  await waitUntil(async () => {
    const [state] = await database.query<{ checkpoint: number | null; hash: string | null; why: string | null }>(
      sql`SELECT checkpoint, encode(checkpoint_hash, 'hex') AS hash, coalesce(stop_message, stall_reason) AS why
         FROM sync_chains WHERE chain_id = ${facts.id}`,
    );
    if (state === undefined) return 'the chain has no state yet';
    if (`0x${state.hash}` !== chain.blockAt(chain.head)?.hash)
      return `the checkpoint is ${state.checkpoint} of ${chain.head}: ${state.why ?? 'no reason given'}`;
    const coverage = await listCoverage(database, facts.id);
    for (const { name } of datasetsOf(facts, datasets)) {
      const covered = mergeRanges(coverage.filter(({ dataset }) => dataset === name).map(({ range }) => range));
      const [only, more] = covered;
      if (only?.from !== from || only.to !== chain.head || more !== undefined)
        return `covered of ${name} are ${JSON.stringify(covered)} of ${from}-${chain.head}: ${state.why ?? 'no reason given'}`;
    }
    const open = coverage.filter(({ proof }) => proof !== 'receipts');
    return proven && open.length > 0 ? `${JSON.stringify(open)} are not proven` : null;
  }, timeoutMs);
}
