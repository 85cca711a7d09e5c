import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { exampleChain, fieldsOfRow } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { PUNKS, punkBought } from './marketplaces/testing/example-events-of-large-markets.ts';
import { buyer, emitter, other, seller } from './marketplaces/testing/example-sale.ts';
import { punkBids } from './punk-bids.ts';
import { type ExampleLog, exampleTransaction } from './testing/example-transaction.ts';

const punks = parseAddress(PUNKS);
const chain = createChainRegistry().get(1);
const BID = '(uint256 indexed punkIndex, uint256 value, address indexed fromAddress)';
const entered = emitter(PUNKS, `event PunkBidEntered${BID}`);
const withdrawn = emitter(PUNKS, `event PunkBidWithdrawn${BID}`);
const bid = { punkIndex: 7n, value: 2n ** 100n, fromAddress: buyer };
const decode = (logs: readonly ExampleLog[], on = chain) =>
  punkBids.decode(exampleTransaction(logs), { chain: on, timestampOf: () => 0 });

test('bids and withdrawals are rows, other events of the contract are not', () => {
  const sale = punkBought({ punkIndex: 7n, value: 1n, fromAddress: seller, toAddress: buyer });
  const rows = decode([entered(bid), sale, withdrawn({ ...bid, punkIndex: 9_999n })]);
  const row = { tokenAddress: punks, chainId: 1, blockNumber: 1, transactionIndex: 0, bidder: buyer };
  expect(rows).toEqual([
    { ...row, logIndex: 0, tokenId: '7', value: String(2n ** 100n), entered: true },
    { ...row, logIndex: 2, tokenId: '9999', value: String(2n ** 100n), entered: false },
  ]);
});

test('a line of COPY has every column', () => {
  const [row] = decode([entered(bid)]);
  const fields = row === undefined ? [] : fieldsOfRow(punkBids.table.copyLine(row));
  expect(fields).toHaveLength(punkBids.table.columns.length);
  expect(fields.slice(1, 3)).toEqual(['0000000000000001', '00010000000000000007']);
});

test('what another contract emits, or no encoding of a bid, is none', () => {
  const log = entered(bid);
  expect(decode([{ ...log, address: other }])).toEqual([]);
  expect(decode([{ ...log, data: '0x12' }])).toEqual([]);
  expect(decode([{ ...log, topics: log.topics.slice(0, 2) }])).toEqual([]);
});

test('bids are kept only where punks are', () => {
  expect(punkBids.topics(chain)).toHaveLength(2);
  expect(punkBids.topics(createChainRegistry().get(137))).toEqual([]);
  expect(decode([entered(bid)], exampleChain({ cryptoPunks: null }))).toEqual([]);
});
