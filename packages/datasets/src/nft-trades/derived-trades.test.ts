/**
 * 107 trades of recorded blocks that were worked out by another decoder, and by hand where the two differ, against this one:
 * field by field.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Log, parseAddress, parseHash, parseQuantity } from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import { nftTrades } from './dataset.ts';
import { marketplaces } from './marketplaces.ts';
import type { NftTradeRow } from './trade-rows.ts';

const DATA = new URL('../../../../../shared/data/evm/', import.meta.url);
const DERIVED = new URL('../../../../../shared/contract/marketplaces.json', import.meta.url);
const given = existsSync(DATA) && existsSync(DERIVED);
if (!given) process.stderr.write(`derived-trades.test.ts: NOT RUN, no recorded blocks at ${fileURLToPath(DATA)}\n`);

interface DerivedTrade {
  readonly folder: string;
  readonly tx: string;
  readonly market: string;
  readonly kind: 'ask' | 'bid' | 'match';
  readonly logs: readonly number[];
  readonly seller: string;
  readonly buyer: string;
  readonly contract: string;
  readonly items: readonly { readonly id: string; readonly amount: string }[];
  readonly payment_token: string;
  readonly price: string;
}

/** How the given trades name the protocols. */
const PROTOCOLS: Readonly<Record<string, string>> = {
  'wyvern v1(2.2)': 'wyvern-2.2',
  'wyvern v2(2.3)': 'wyvern-2.3',
  'seaport 1.1': 'seaport-1.1',
  'seaport 1.4': 'seaport-1.4',
  'seaport 1.5': 'seaport-1.5',
  'seaport 1.6': 'seaport-1.6',
  'blur v1': 'blur-v1',
  'looksrare v1': 'looksrare-v1',
  'looksrare v2': 'looksrare-v2',
  'x2y2 r1': 'x2y2-r1',
  '0x v4': '0x-v4',
  '0x v3 matchOrders': '0x-v3',
  cryptopunks: 'cryptopunks',
};

const SIDES = { ask: 0, bid: 1, match: 2 } as const;
const COIN = `0x${'0'.repeat(40)}`;

const derived: readonly DerivedTrade[] = given ? JSON.parse(readFileSync(DERIVED, 'utf8')).derived_trades : [];
const decoded = new Set(marketplaces.map((marketplace) => marketplace.protocol));
const folders = [...new Set(derived.map((trade) => trade.folder))];

describe.runIf(given)('recorded trades', () => {
  test('there are 107', () => {
    expect(derived).toHaveLength(107);
  });

  test('every market of theirs is decoded', () => {
    const missing = new Set(
      derived.map((trade) => trade.market).filter((name) => !decoded.has(PROTOCOLS[name] ?? name)),
    );
    expect([...missing]).toEqual([]);
  });

  test.each(folders)('trades of %s', (folder) => {
    const expected = derived.filter((trade) => trade.folder === folder && decoded.has(PROTOCOLS[trade.market] ?? ''));
    expect(
      decodeFolder(folder)
        .filter((row) => row.leads)
        .map(shown),
    ).toEqual(expected.map(asDecoded));
  });
});

function asDecoded(trade: DerivedTrade) {
  return {
    tx: trade.tx,
    log: trade.logs[0],
    protocol: PROTOCOLS[trade.market],
    side: SIDES[trade.kind],
    seller: trade.seller,
    buyer: trade.buyer,
    token: trade.contract,
    ids: trade.items.map((item) => item.id),
    amounts: trade.items.map((item) => item.amount),
    paymentToken: trade.payment_token === COIN ? null : trade.payment_token,
    price: trade.price,
  };
}

function shown(row: NftTradeRow): ReturnType<typeof asDecoded> {
  return {
    tx: row.transactionHash,
    log: row.logIndex,
    protocol: row.protocol,
    side: row.side,
    seller: row.seller,
    buyer: row.buyer,
    token: row.tokenAddress,
    ids: [...row.tokenIds],
    amounts: [...row.amounts],
    paymentToken: row.paymentToken,
    price: row.price ?? '',
  };
}

function decodeFolder(folder: string): NftTradeRow[] {
  const receipts: { logs: Record<string, unknown>[] }[] = JSON.parse(
    readFileSync(new URL(`${folder}/receipts.json`, DATA), 'utf8'),
  );
  const logs = receipts.flatMap((receipt) => receipt.logs.map(parseLog));
  return nftTrades.decode(logs, { chain: chainOf(folder), timestampOf: () => 1_600_000_000 });
}

function chainOf(folder: string): Chain {
  return createChainRegistry().get(folder.includes('polygon') ? 137 : 1);
}

function parseLog(raw: Record<string, unknown>): Log {
  return {
    address: parseAddress(raw.address),
    topics: (raw.topics as unknown[]).map(parseHash),
    data: String(raw.data).toLowerCase() as Log['data'],
    blockNumber: parseQuantity(raw.blockNumber),
    blockHash: parseHash(raw.blockHash),
    transactionHash: parseHash(raw.transactionHash),
    transactionIndex: parseQuantity(raw.transactionIndex),
    logIndex: parseQuantity(raw.logIndex),
    blockTimestamp: null,
  };
}
