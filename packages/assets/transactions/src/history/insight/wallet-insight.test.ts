/** Sums of wallets' activity in recorded blocks, against SQL sums over the same rows. */

import { parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { cover, seedPools, seedSwaps, seedToken, swapRow } from '@chainstead/markets/testing';
import { addressOf, recordedData } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { describe, expect, test } from 'vitest';
import { LAST_BLOCK, openHistoryStage } from '../testing/history-stage.ts';
import { walletInsightView } from './wallet-insight-route.ts';

const { isMissing, title } = recordedData('data/evm');

describe.skipIf(isMissing)(title('what a wallet’s activity adds up to'), () => {
  const stage = stageOfFile(openHistoryStage);

  async function insightOf(wallet: string, query = '') {
    const { status, body } = await stage.ask(`wallets/${wallet}/insight?chains[]=eth${query}`);
    expect([status, body]).toEqual([200, expect.anything()]);
    return walletInsightView.schema.parse(body);
  }

  test('of the busiest wallets it is what their rows add up to', async () => {
    const wallets = await stage.scratch.database.query<{ wallet: string; bytes: Buffer }>(
      sql`SELECT '0x' || encode(account, 'hex') AS wallet, account AS bytes FROM account_transactions GROUP BY account ORDER BY count(*) DESC, account LIMIT 12`,
    );
    for (const { wallet, bytes } of wallets) {
      const [expected] = await stage.scratch.database.query<Record<string, string>>(
        sql`SELECT (SELECT count(*) FROM transactions WHERE from_address = ${bytes}) AS initiated,
           (SELECT coalesce(sum(gas_used * gas_price), 0)::text FROM transactions WHERE from_address = ${bytes}) AS gas,
           (SELECT coalesce(sum(value), 0)::text FROM transactions WHERE from_address = ${bytes} AND status = 1) AS sent,
           (SELECT coalesce(sum(value), 0)::text FROM transactions WHERE coalesce(to_address, contract_address) = ${bytes} AND status = 1) AS received,
           (SELECT count(*) FROM erc20_transfer_sides WHERE account = ${bytes}) AS tokens_moved,
           (SELECT count(*) FROM nft_transfers WHERE from_address = ${bytes} OR to_address = ${bytes}) AS nfts_moved,
           (SELECT count(DISTINCT (block_number, transaction_index)) FROM (
             SELECT block_number, transaction_index FROM account_transactions WHERE account = ${bytes}
             UNION ALL SELECT block_number, transaction_index FROM erc20_transfer_sides WHERE account = ${bytes}
             UNION ALL SELECT block_number, transaction_index FROM nft_transfers WHERE from_address = ${bytes} OR to_address = ${bytes}
             UNION ALL SELECT block_number, transaction_index FROM erc20_approvals WHERE owner = ${bytes}) AS part) AS involved`,
      );
      const shown = await insightOf(wallet, '&includeChainBreakdown=true');
      const [ofChain] = shown.chainBreakdown ?? [];
      const wei = (text: string | undefined): string => {
        const [whole = '0', fraction = ''] = (text ?? '').split('.');
        return BigInt(`${whole}${fraction.padEnd(18, '0')}`).toString();
      };
      expect({
        initiated: shown.transactionsInitiated,
        involved: shown.transactionsInvolved,
        tokensMoved: shown.erc20Transfers.total,
        nftsMoved: shown.nftTransfers.total,
        gas: wei(ofChain?.totalGasSpentNative),
        sent: wei(ofChain?.nativeVolumeSent),
        received: wei(ofChain?.nativeVolumeReceived),
      }).toEqual({
        ...expected,
        initiated: Number(expected?.initiated),
        involved: Number(expected?.involved),
        tokensMoved: Number(expected?.tokensMoved),
        nftsMoved: Number(expected?.nftsMoved),
      });
      expect(shown).toMatchObject({
        address: wallet,
        addressType: 'evm',
        activeChains: 1,
        mostActiveChain: '0x1',
      });
      // No price of ether is indexed here.
      expect(shown.totalGasSpentUsd === null || shown.totalGasSpentUsd === '0.00').toBe(true);
    }
  });

  test('on a chain without a feed or pools amounts have no dollars', async () => {
    // A wallet that no other test requested: its sums don't exist yet.
    const [row] = await stage.scratch.database.query<{ wallet: string }>(
      sql`SELECT '0x' || encode(from_address, 'hex') AS wallet FROM transactions GROUP BY from_address ORDER BY sum(value) DESC, from_address DESC OFFSET 20 LIMIT 1`,
    );
    stage.settings.etherPrice = { feed: null, pools: [] };
    const shown = await insightOf(row?.wallet ?? '');
    stage.reset();
    expect(shown.transactionsInitiated).toBeGreaterThan(0);
    expect(shown.totalGasSpentUsd).toBeNull();
  });

  test('a wallet that did nothing has zeros and no moments', async () => {
    const shown = await insightOf(`0x${'12'.repeat(20)}`);
    expect(shown).toMatchObject({
      ...{ walletAgeDays: 0, firstActivityAt: null, lastInitiatedAt: null, activeDays: 0, activeChains: 0 },
      ...{ mostActiveChain: null, transactionsInvolved: 0, swapVolumeUsd: null },
    });
    expect(shown.chainBreakdown).toBeUndefined();
  });

  test('swaps add up to their volume', async () => {
    const { chain, scratch } = stage;
    const usdc = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
    const aggregator =
      chain.tokenFeeds.find(({ tokens }) => tokens.includes(usdc))?.aggregators[0] ?? addressOf(0);
    const [wallet, token, pool] = [addressOf(0x5a11e7), addressOf(0x70c), addressOf(0x9a1)];
    const [at] = await scratch.database.query<{ time: number }>(
      sql`SELECT extract(epoch FROM block_timestamp)::float8 AS time FROM blocks WHERE block_number = ${LAST_BLOCK}`,
    );
    await seedToken(scratch.database, chain, usdc, 'USDC', 6);
    for (const dataset of ['swaps', 'feed-answers']) await cover(scratch.database, chain, dataset, LAST_BLOCK);
    const price = { aggregator, blockNumber: LAST_BLOCK, answer: '99000000', time: at?.time ?? 0 };
    await seedAnswers(scratch.database, chain, [price]);
    await seedPools(scratch.database, chain, [{ pool, tokens: [token, usdc] }]);
    const swap = { pool, token0: token, token1: usdc, blockNumber: LAST_BLOCK, wallet };
    await seedSwaps(scratch.database, chain, [
      swapRow(chain, { ...swap, transactionIndex: 0, amount0: '5', amount1: '-10000000' }),
      swapRow(chain, { ...swap, transactionIndex: 1, amount0: '-5', amount1: '2505000' }),
    ]);
    // 12.505 USDC at 0.99 dollars are 12.37995.
    const shown = await insightOf(wallet, '&includeChainBreakdown=true');
    expect([shown.swapVolumeUsd, shown.chainBreakdown?.[0]?.swapVolumeUsd]).toEqual(['12.38', '12.38']);
  });

  test('of a wallet that nobody asked for has the rest looked for', async () => {
    const wallet = `0x${'13'.repeat(20)}`;
    // No worker searches here, so each first request waits for half of this.
    stage.settings.waitMs = 4_000;
    stage.settings.mode = 'wallets';
    try {
      await insightOf(wallet);
    } finally {
      stage.reset();
    }
    const requested = await stage.scratch.database.query<{ wallet: string }>(
      sql`SELECT '0x' || encode(wallet, 'hex') AS wallet FROM tracked_wallets`,
    );
    expect(requested).toContainEqual({ wallet });
  });
});
