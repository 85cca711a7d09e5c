import { type Address, parseHash } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { erc20Approvals, erc20Transfers } from '@chainstead/erc20/requests';
import { nftTransfers } from '@chainstead/nft/requests';
import { addressOf, recordedData, seedBuilt } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { internalTransfers } from '../../internal-transfers/dataset.ts';
import { accountTransactions } from '../../stored/datasets.ts';
import { walletStatsView } from '../routes/wallet-stats-route.ts';
import { LAST_BLOCK, openHistoryStage } from '../testing/history-stage.ts';
import { type RecordedTransaction, readRecordedTransactions } from '../testing/recorded-transactions.ts';

const { isMissing, title } = recordedData('data/evm');

const TRANSFER = parseHash('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef');
const OF_1155 = [
  '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
];

describe.skipIf(isMissing)(title('how much wallets of recorded blocks have and did'), () => {
  const stage = stageOfFile(openHistoryStage);
  let recorded: readonly RecordedTransaction[] = [];
  beforeAll(async () => {
    const stored = await stage.scratch.database.query<{ block: number }>(
      sql`SELECT block_number AS block FROM blocks`,
    );
    const blocks = new Set(stored.map(({ block }) => `ethereum/${block}`));
    recorded = readRecordedTransactions().filter(({ block }) => blocks.has(block));
    const datasets = [erc20Transfers, erc20Approvals, nftTransfers, accountTransactions, internalTransfers];
    for (const { projections = [] } of datasets)
      for (const state of projections) await seedBuilt(stage.scratch.database, stage.chain.id, state);
  });
  beforeEach(() => stage.reset());

  const topicOf = (wallet: Address): string => `0x${wallet.slice(2).padStart(64, '0')}`;
  /** The counts from the recorded transactions and logs alone. */
  function reported(wallet: Address) {
    const logs = recorded.flatMap(({ record }) => record.logs);
    const [token, nft] = [
      logs
        .filter(({ topics }) => topics[0] === TRANSFER && topics.length === 3)
        .map(({ topics }) => topics.slice(1)),
      logs.flatMap(({ topics }) => {
        if (topics[0] === TRANSFER && topics.length === 4) return [topics.slice(1, 3)];
        return OF_1155.includes(topics[0] ?? '') ? [topics.slice(2)] : [];
      }),
    ];
    const ofWallet = (sides: readonly string[]): boolean => sides.includes(topicOf(wallet));
    return {
      sent: String(recorded.filter(({ record }) => record.from === wallet).length),
      tokens: String(token.filter(ofWallet).length),
      nfts: String(nft.filter(ofWallet).length),
    };
  }

  /** The wallets with the most transactions and transfers. */
  function busiest(most: number): readonly Address[] {
    const seen = new Map<string, number>();
    const count = (account: string) => seen.set(account, (seen.get(account) ?? 0) + 1);
    for (const { record } of recorded) {
      count(record.from);
      for (const { topics } of record.logs)
        if (topics[0] === TRANSFER) for (const side of topics.slice(1, 3)) count(`0x${side.slice(26)}`);
    }
    const sorted = [...seen].toSorted(([one, some], [other, more]) => more - some || one.localeCompare(other));
    return sorted.slice(0, most).map(([account]) => account as Address);
  }

  async function statsOf(wallet: string, query = '?chain=eth') {
    const { status, body } = await stage.ask(`wallets/${wallet}/stats${query}`);
    expect([status, body]).toEqual([200, expect.anything()]);
    return walletStatsView.schema.parse(body);
  }

  test('is what their transactions and logs come to, and their history', async () => {
    const wallets = busiest(12);
    expect(wallets).toHaveLength(12);
    for (const wallet of wallets) {
      const { transactions, nft_transfers: nfts, token_transfers: tokens } = await statsOf(wallet);
      const pages = await stage.pages(`wallets/${wallet}/history?limit=100`);
      expect([wallet, { transactions, nfts: nfts.total, tokens: tokens.total }]).toEqual([
        wallet,
        {
          transactions: {
            total: reported(wallet).sent,
            involved: String(pages.reduce((sum, { result }) => sum + result.length, 0)),
          },
          ...{ nfts: reported(wallet).nfts, tokens: reported(wallet).tokens },
        },
      ]);
    }
  });

  test('counts what they hold by the newest transfer of each NFT', async () => {
    const { database } = stage.scratch;
    const wallets = await database.query<{ wallet: string; bytes: Buffer }>(
      sql`SELECT '0x' || encode(to_address, 'hex') AS wallet, to_address AS bytes FROM nft_transfers WHERE operator IS NULL
        AND to_address <> decode(repeat('00', 20), 'hex') AND to_address NOT IN (SELECT to_address FROM nft_transfers WHERE operator IS NOT NULL)
        GROUP BY to_address ORDER BY count(*) DESC, to_address LIMIT 5`,
    );
    expect(wallets).toHaveLength(5);
    for (const { wallet, bytes } of wallets) {
      const [held] = await database.query<{ nfts: string; collections: string }>(
        sql`SELECT count(*)::text AS nfts, count(DISTINCT token_address)::text AS collections FROM (
           SELECT DISTINCT ON (token_address, token_id) token_address, to_address FROM nft_transfers
           ORDER BY token_address, token_id, block_number DESC, transaction_index DESC, log_index DESC) AS newest WHERE to_address = ${bytes}`,
      );
      const { nfts, collections } = await statsOf(wallet);
      expect({ nfts, collections }).toEqual(held);
    }
  });

  test('is read by the official SDK', async () => {
    const [wallet = addressOf(1)] = busiest(1);
    const { result } = await stage.sdk.EvmApi.wallets.getWalletStats({ address: wallet, chain: '0x1' });
    expect(result.transactions.total).toBe(reported(wallet).sent);
    expect(result.tokenTransfers.total).toBe(reported(wallet).tokens);
    expect(result.nftTransfers.total).toBe(reported(wallet).nfts);
    expect(result.nfts).toMatch(/^\d+$/);
  });

  test('is complete where all of its parts are', async () => {
    const none = { nfts: '0', collections: '0', nft_transfers: { total: '0' }, token_transfers: { total: '0' } };
    const expected = { ...none, transactions: { total: '0', involved: '0' } };
    expect(await statsOf(addressOf(0x999), '')).toMatchObject({
      ...expected,
      indexed: { to_block: String(LAST_BLOCK) },
    });
  });

  test('of a wallet that nobody asked for counts what is known, and has the rest looked for', async () => {
    // No worker searches here, so each first request waits for half of this.
    stage.settings.waitMs = 2_000;
    stage.settings.mode = 'wallets';
    const wallet = addressOf(0x777);
    const { database } = stage.scratch;
    // As if only the transactions of requested wallets were ever stored.
    await database.query(sql`UPDATE sync_ranges SET dataset = 'none' WHERE dataset = 'account-transactions'`);
    expect((await statsOf(wallet)).indexed.complete).toBe(false);
    await database.query(sql`UPDATE sync_ranges SET dataset = 'account-transactions' WHERE dataset = 'none'`);
    const requested = await database.query<{ wallet: string }>(
      sql`SELECT '0x' || encode(wallet, 'hex') AS wallet FROM tracked_wallets`,
    );
    expect(requested).toContainEqual({ wallet });
  });
});
