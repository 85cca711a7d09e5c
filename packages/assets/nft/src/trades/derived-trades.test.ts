/**
 * Compares 107 trades of recorded blocks, field by field, to another decoder's result. If the two differ, the
 * expected trade was derived by hand.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { Address, Log } from '@chainstead/core';
import { exampleChain, listRecordedBlocks, readRecordedLogs, recordedData } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { marketplaces } from './marketplaces.ts';
import type { NftTradeRow } from './schema.ts';
import { amountsOf, decodeLogs, idsOf } from './testing/example-trades.ts';

const RECORDINGS = recordedData('data/evm');
const DERIVED = recordedData('contract/marketplaces.json');
const isMissing = RECORDINGS.isMissing || DERIVED.isMissing;

interface DerivedTrade {
  readonly folder: string;
  readonly tx: string;
  readonly market: string;
  readonly kind: 'ask' | 'bid' | 'match';
  readonly logs: readonly number[];
  readonly seller: string;
  readonly buyer: string;
  /** As in the fill event. */
  readonly event_buyer: string;
  readonly contract: string;
  readonly items: readonly { readonly id: string; readonly amount: string }[];
  readonly payment_token: string;
  readonly price: string;
}

/** Protocol and filter name of the markets, by their name in the given trades. */
const MARKETS: Readonly<Record<string, readonly [protocol: string, name: string]>> = {
  'wyvern v1(2.2)': ['wyvern-2.2', 'opensea'],
  'wyvern v2(2.3)': ['wyvern-2.3', 'opensea'],
  'seaport 1.1': ['seaport-1.1', 'opensea'],
  'seaport 1.4': ['seaport-1.4', 'opensea'],
  'seaport 1.5': ['seaport-1.5', 'opensea'],
  'seaport 1.6': ['seaport-1.6', 'opensea'],
  'blur v1': ['blur-v1', 'blur'],
  'looksrare v1': ['looksrare-v1', 'looksrare'],
  'looksrare v2': ['looksrare-v2', 'looksrare'],
  'x2y2 r1': ['x2y2-r1', 'x2y2'],
  '0x v4': ['0x-v4', '0xprotocol'],
  '0x v3 matchOrders': ['0x-v3', '0xprotocol'],
  cryptopunks: ['cryptopunks', 'cryptopunks'],
};

/** The exchange of OpenSea on Polygon; other operators ran the same contracts. */
const OPENSEA_ON_POLYGON: string = '0xfede379e48c873c75f3cc0c81f7c784ad730a8f7';

const SIDES = { ask: 0, bid: 1, match: 2 } as const;
const NATIVE_CURRENCY = `0x${'0'.repeat(40)}`;

const derived: readonly DerivedTrade[] = isMissing
  ? []
  : JSON.parse(readFileSync(DERIVED.folder, 'utf8')).derived_trades;
const decoded = new Set(marketplaces.map((marketplace) => marketplace.protocol));
const folders = isMissing ? [] : listRecordedBlocks();

describe.skipIf(isMissing)(RECORDINGS.title(DERIVED.title('recorded trades')), () => {
  test('there are 107, of markets that are all decoded', () => {
    expect(derived).toHaveLength(107);
    const missing = derived
      .map((trade) => trade.market)
      .filter((name) => !decoded.has(MARKETS[name]?.[0] ?? name));
    expect([...new Set(missing)]).toEqual([]);
    expect(folders).toEqual(expect.arrayContaining(derived.map((trade) => trade.folder)));
  });

  /**
   * Both sides agree in every field of every trade. A difference would be listed here, with the correct side and the
   * reason.
   */
  test.each(folders)('%s has these trades and no others', (folder) => {
    const expected = derived.filter((trade) => trade.folder === folder);
    const logs = readRecordedLogs(folder);
    const emitters = new Map(logs.map((log) => [`${log.transactionHash} ${log.logIndex}`, log.address]));
    const trades = decode(folder, logs).filter((row) => row.leads);
    expect(trades.map(shown)).toEqual(
      expected.map((trade) => asDecoded(trade, emitters.get(`${trade.tx} ${trade.logs[0]}`))),
    );
  });

  test('where event and transfers name different buyers, it is the one who ended up with the token', () => {
    const routed = derived.filter((trade) => trade.buyer !== trade.event_buyer);
    expect(routed.map((trade) => [trade.market, trade.event_buyer, trade.buyer])).toEqual([
      ['wyvern v2(2.3)', GEM, '0x7ce2c24fa9447da94f15d9255c5f44bfdaf8dc07'],
      ['wyvern v2(2.3)', GEM, '0x7ce2c24fa9447da94f15d9255c5f44bfdaf8dc07'],
      ['x2y2 r1', GEM, '0x7ce2c24fa9447da94f15d9255c5f44bfdaf8dc07'],
      ['wyvern v2(2.3)', GEM, '0xceb638a86eb40b6e349615eade6b80267044ead1'],
      ['seaport 1.1', POLYGON_ROUTER, '0x2f28c58b3a8090b0e8059bfcae00b10f4df6c38e'],
    ]);
  });
});

const GEM = '0x83c8f28c26bf6aaca652df1dbbe0e1b56f8baba2';
const POLYGON_ROUTER = '0xd5b60a2ae59986e50a9552003b5d66c30f1a25ba';

function asDecoded(trade: DerivedTrade, emitter: Address | undefined) {
  const [protocol, name] = MARKETS[trade.market] ?? [];
  return {
    tx: trade.tx,
    log: trade.logs[0],
    market: [protocol, emitter === OPENSEA_ON_POLYGON ? 'opensea' : name, emitter],
    side: SIDES[trade.kind],
    seller: trade.seller,
    buyer: trade.buyer,
    token: trade.contract,
    ids: trade.items.map((item) => item.id),
    amounts: trade.items.map((item) => item.amount),
    paymentToken: trade.payment_token === NATIVE_CURRENCY ? null : trade.payment_token,
    price: trade.price,
  };
}

function shown(row: NftTradeRow): ReturnType<typeof asDecoded> {
  return {
    tx: row.transactionHash,
    log: row.logIndex,
    market: [row.protocol, row.marketplace, row.marketplaceAddress],
    side: row.side,
    seller: row.seller,
    buyer: row.buyer,
    token: row.tokenAddress,
    ids: [...idsOf(row)],
    amounts: [...amountsOf(row)],
    paymentToken: row.paymentToken,
    price: row.price ?? '',
  };
}

function decode(folder: string, logs: readonly Log[]): NftTradeRow[] {
  return decodeLogs(logs, chainOf(folder));
}

function chainOf(folder: string): Chain {
  const name = folder.replace('partial/', '').split(/[-/]receipts|\//)[0] ?? '';
  const ids: Record<string, number> = JSON.parse(readFileSync(join(RECORDINGS.folder, 'chain-ids.json'), 'utf8'));
  return createChainRegistry().find(ids[name] ?? name) ?? exampleChain({ id: ids[name] ?? 1 });
}
