import { ZERO_ADDRESS } from '@chainstead/core';
import { expect, test } from 'vitest';
import { decodeExample, tradesOf } from '../testing/example-trades.ts';
import { erc721Transfer } from '../testing/example-transaction.ts';
import { processors, saleV1, saleV2, swept } from './testing/example-events-of-small-markets.ts';
import { artist, buyer, cats, other, router, seller } from './testing/example-sale.ts';

const given = erc721Transfer(cats, seller, buyer, 7n);
const sweep = {
  ...saleV1,
  unsuccessfulFills: [false, false],
  sellers: [seller, other],
  tokenIds: [7n, 8n],
  salePrices: [1n, 2n],
};

test('rows of a sweep have places of their own below one log', () => {
  const rows = decodeExample([given, erc721Transfer(cats, other, buyer, 8n), swept(sweep)]);
  expect(rows.map(({ logIndex, item, leads, tokenId }) => [logIndex, item, leads, tokenId])).toEqual([
    [2, 0, true, '7'],
    [2, 1, true, '8'],
  ]);
});

test.each([
  ['fills', { unsuccessfulFills: [false] }],
  ['prices', { salePrices: [1n] }],
  ['ids', { tokenIds: [7n] }],
])('lists of different length say nothing: %s', (_, lists) => {
  expect(decodeExample([given, swept({ ...sweep, ...lists })])).toEqual([]);
});

test('a token of a sweep without a seller is left out', () => {
  expect(tradesOf(decodeExample([given, swept({ ...sweep, sellers: [seller] })]))).toMatchObject([
    { ids: ['7'] },
  ]);
});

test('all fills that failed are no trades', () => {
  expect(decodeExample([swept({ ...sweep, unsuccessfulFills: [true, true] })])).toEqual([]);
});

test.each(processors)(
  '$protocol: the token goes to the beneficiary; none named: to the buyer',
  ({ listing, offer }) => {
    const trades = (log: ReturnType<typeof listing>) => tradesOf(decodeExample([given, log]));
    expect(trades(listing({ ...saleV2, buyer: artist }))).toMatchObject([{ buyer, seller, side: 0 }]);
    expect(trades(offer({ ...saleV2, buyer: artist }))).toMatchObject([{ buyer, seller, side: 1 }]);
    expect(trades(listing({ ...saleV2, beneficiary: ZERO_ADDRESS }))).toMatchObject([{ buyer, seller }]);
  },
);

test('a beneficiary that is a router is followed', () => {
  const [processor] = processors;
  const logs = [
    erc721Transfer(cats, seller, router, 7n),
    ...(processor === undefined ? [] : [processor.listing({ ...saleV2, beneficiary: router })]),
    erc721Transfer(cats, router, buyer, 7n),
  ];
  expect(tradesOf(decodeExample(logs))).toMatchObject([{ buyer, seller }]);
});
