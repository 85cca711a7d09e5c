/** The parts of decoded trades that tests check. */
import type { Chain } from '@chainstead/chains';
import type { Log } from '@chainstead/core';
import { exampleChain } from '@chainstead/testkit';
import { nftTrades } from '../dataset.ts';
import type { NftTradeRow } from '../schema.ts';
import { type ExampleLog, exampleTransaction } from './example-transaction.ts';

/** Decodes the rows of these logs, all from one transaction. */
export function decodeExample(logs: readonly ExampleLog[], chain: Chain = exampleChain()): NftTradeRow[] {
  return decodeLogs(exampleTransaction(logs), chain);
}

/** Decodes only logs with topics of the dataset, as the engine does. */
export function decodeLogs(logs: readonly Log[], chain: Chain = exampleChain()): NftTradeRow[] {
  const topics = new Set<string | undefined>(nftTrades.topics(chain));
  const own = logs.filter((log) => topics.has(log.topics[0]));
  return nftTrades.decode(own, { chain, timestampOf: (block) => 1_600_000_000 + block });
}

/** All ids of a row's collection in the trade. */
export function idsOf({ tokenId, tokenIds }: NftTradeRow): readonly string[] {
  return tokenIds ?? [tokenId];
}

/** The amount of each of {@link idsOf}. */
export function amountsOf({ amounts }: NftTradeRow): readonly string[] {
  return amounts ?? ['1'];
}

/** Trades without their position: the leading rows, one line of facts each. */
export function tradesOf(rows: readonly NftTradeRow[]) {
  return rows
    .filter((row) => row.leads)
    .map((row) => ({
      logIndex: row.logIndex,
      token: row.tokenAddress,
      ids: idsOf(row),
      amounts: amountsOf(row),
      seller: row.seller,
      buyer: row.buyer,
      side: row.side,
      paymentToken: row.paymentToken,
      price: row.price,
    }));
}
