import { createChainRegistry } from '@chainstead/chains';
import { type Address, silentLogger, systemClock, ZERO_ADDRESS } from '@chainstead/core';
import { parseLog } from '@chainstead/rpc';
import { createKnownContracts, readHistory, requestHistory } from '@chainstead/sync';
import {
  type ChainNode,
  createScratchDatabase,
  loadRecordedChain,
  recordedData,
  type ScratchDatabase,
  serveChain,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nftTransfers } from '../dataset.ts';
import { stagePool } from './testing/history-stage.ts';

const { folder, isMissing, title } = recordedData('data/evm');
// A few blocks far apart; heights between them are empty to the node.
const FIRST = 12_000_000;
const eth = { ...createChainRegistry().get('eth'), firstBlock: FIRST };

interface Move {
  readonly place: string;
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
}

describe.skipIf(isMissing)(title('recorded blocks of Ethereum'), () => {
  let scratch: ScratchDatabase;
  let node: ChainNode;
  let moves: readonly Move[] = [];
  let head = 0;

  beforeAll(async () => {
    if (isMissing) return;
    scratch = await createScratchDatabase();
    const source = await loadRecordedChain({ folder, chain: 'ethereum', blocks: { from: FIRST, to: 20_000_000 } });
    node = await serveChain(source);
    head = source.head;
    const blocks = [...source.blocksIn({ from: FIRST, to: head })];
    const logs = blocks.flatMap(({ receipts }) =>
      receipts.flatMap((receipt) => (receipt.logs as readonly unknown[]).map(parseLog)),
    );
    moves = nftTransfers.decode(logs, { chain: eth, timestampOf: () => 0 }).map((row) => ({
      place: `${row.blockNumber} ${row.logIndex} ${row.item} ${row.tokenId}`,
      token: row.tokenAddress,
      from: row.fromAddress,
      to: row.toAddress,
    }));
    await scratch.database.query(
      'INSERT INTO sync_chains (chain_id, history_start, first_followed) VALUES (1, $1, $1)',
      [head + 1],
    );
  });
  afterAll(async () => {
    await node?.close();
    await scratch?.drop();
  });

  async function historyOf(kind: 'wallet' | 'contract', address: Address): Promise<string[]> {
    const { database } = scratch;
    await database.query('TRUNCATE nft_transfers, nft_wallet_tokens, nft_wallet_collections, kept_subjects');
    const pool = stagePool(eth, node.url, 1_000_000);
    await pool.start();
    const subject = { chainId: eth.id, kind, address };
    await requestHistory(database, { subject, requestedBy: null, perKey: 100, maxCalls: 1_000 });
    const outcome = await readHistory(
      {
        chain: eth,
        pool,
        database,
        datasets: [nftTransfers],
        knownContracts: createKnownContracts(),
        clock: systemClock,
        logger: silentLogger(),
        maxCalls: 1_000,
        sliceMs: 60_000,
      },
      subject,
      new AbortController().signal,
    );
    await pool.close();
    expect(outcome).toBe('done');
    const rows = await database.query<{ place: string }>(
      `SELECT concat_ws(' ', block_number, log_index, item, token_id) AS place FROM nft_transfers ORDER BY block_number, log_index, item`,
    );
    return rows.map(({ place }) => place);
  }

  /** Most active first. */
  function busiest(pick: (move: Move) => readonly Address[]): Address[] {
    const counts = new Map<Address, number>();
    for (const address of moves.flatMap(pick)) counts.set(address, (counts.get(address) ?? 0) + 1);
    counts.delete(ZERO_ADDRESS);
    return [...counts].toSorted(([, a], [, b]) => b - a).map(([address]) => address);
  }

  test('give the wallets in them exactly their own transfers', async () => {
    expect(moves.length).toBeGreaterThan(100);
    for (const wallet of busiest(({ from, to }) => [from, to]).slice(0, 6)) {
      const own = moves.filter(({ from, to }) => from === wallet || to === wallet).map(({ place }) => place);
      expect(await historyOf('wallet', wallet)).toEqual(own);
    }
  });

  test('give contracts all that they emitted', async () => {
    for (const contract of busiest(({ token }) => [token]).slice(0, 6)) {
      const own = moves.filter(({ token }) => token === contract).map(({ place }) => place);
      expect(await historyOf('contract', contract)).toEqual(own);
    }
  });
});
