import { parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { exampleChain } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { decodeExample, tradesOf } from '../testing/example-trades.ts';
import {
  erc20Transfer,
  erc721Transfer,
  erc1155Transfer,
  exampleAddress,
} from '../testing/example-transaction.ts';
import { erc20, erc721, erc1155, native, orderFulfilled, SEAPORT_1_6 } from './testing/example-seaport.ts';

const seller = exampleAddress(1);
const buyer = exampleAddress(2);
const feeWallet = exampleAddress(3);
const artist = exampleAddress(4);
const tipped = exampleAddress(5);
const other = exampleAddress(6);
const apes = exampleAddress(11);
const cats = exampleAddress(12);
const weth = exampleAddress(13);
const usdc = exampleAddress(14);
const sold = { logIndex: 0, token: apes, ids: ['7'], amounts: ['1'], seller, buyer, side: 0, paymentToken: null };

describe('listings', () => {
  test('the price is all that is paid: net, fee, royalty and tip, twice to the seller if he is the artist', () => {
    const consideration = [
      native(900n, seller),
      native(25n, feeWallet),
      native(50n, seller),
      native(20n, artist),
      native(5n, tipped),
    ];
    const order = { offerer: seller, recipient: buyer, offer: [erc721(apes, 7n)], consideration };
    const logs = [orderFulfilled(order), erc721Transfer(apes, seller, buyer, 7n)];
    expect(tradesOf(decodeExample(logs))).toEqual([{ ...sold, price: '1000' }]);
  });

  test('a token as payment is named, and a zero fee in another currency changes nothing', () => {
    const consideration = [erc20(usdc, 10n, seller), native(0n, feeWallet)];
    const order = { offerer: seller, recipient: buyer, offer: [erc721(apes, 7n)], consideration };
    expect(tradesOf(decodeExample([orderFulfilled(order)]))).toEqual([
      { ...sold, paymentToken: usdc, price: '10' },
    ]);
  });

  test('sums go beyond 256 bits', () => {
    const max = 2n ** 256n - 1n;
    const consideration = [erc20(usdc, max, seller), erc20(usdc, max, feeWallet)];
    const order = { offerer: seller, recipient: buyer, offer: [erc721(apes, 7n)], consideration };
    expect(tradesOf(decodeExample([orderFulfilled(order)]))[0]?.price).toBe(String(max * 2n));
  });

  test('a listing for nothing is a trade at zero', () => {
    const order = {
      offerer: seller,
      recipient: buyer,
      offer: [erc721(apes, 7n)],
      consideration: [native(0n, seller)],
    };
    expect(tradesOf(decodeExample([orderFulfilled(order)]))).toEqual([{ ...sold, price: '0' }]);
  });

  test('the amount of an ERC-1155 is the one executed, and the price is for all of it', () => {
    const order = {
      offerer: seller,
      recipient: buyer,
      offer: [erc1155(cats, 9n, 3n)],
      consideration: [native(30n)],
    };
    const logs = [erc1155Transfer(cats, seller, buyer, 9n, 3n), orderFulfilled(order)];
    expect(tradesOf(decodeExample(logs))).toEqual([
      { ...sold, logIndex: 1, token: cats, ids: ['9'], amounts: ['3'], price: '30' },
    ]);
  });

  test('each order of a sweep is a trade, also when transfers are added up', () => {
    const order = (id: bigint, price: bigint) =>
      orderFulfilled({
        offerer: seller,
        recipient: buyer,
        offer: [erc721(apes, id)],
        consideration: [erc20(weth, price, seller)],
      });
    const logs = [
      order(1n, 5n),
      order(2n, 6n),
      erc721Transfer(apes, seller, buyer, 1n),
      erc721Transfer(apes, seller, buyer, 2n),
      erc20Transfer(weth, buyer, seller, 11n),
    ];
    expect(tradesOf(decodeExample(logs)).map(({ logIndex, ids, price }) => [logIndex, ids, price])).toEqual([
      [0, ['1'], '5'],
      [1, ['2'], '6'],
    ]);
  });

  test('a bundle of several collections has rows in each, with the price of all', () => {
    const offer = [erc721(apes, 2n), erc1155(cats, 9n, 4n), erc721(apes, 1n)];
    const order = { offerer: seller, recipient: buyer, offer, consideration: [native(100n, seller)] };
    const rows = decodeExample([orderFulfilled(order)]);
    expect(
      rows.map((row) => [row.tokenAddress, row.tokenId, row.item, row.leads, row.tokenIds, row.amounts]),
    ).toEqual([
      [apes, '2', 0, true, ['2', '1'], ['1', '1']],
      [apes, '1', 1, false, ['2', '1'], ['1', '1']],
      [cats, '9', 0, true, null, ['4']],
    ]);
    expect(new Set(rows.map((row) => `${row.collections} ${row.price}`))).toEqual(new Set(['2 100']));
  });

  test('a listing that asks for its own token names who gets it', () => {
    const consideration = [native(100n, seller), erc721(apes, 7n, buyer)];
    const order = { offerer: seller, recipient: other, offer: [erc721(apes, 7n)], consideration };
    expect(tradesOf(decodeExample([orderFulfilled(order)]))).toEqual([{ ...sold, price: '100' }]);
  });
});

describe('offers', () => {
  const consideration = [erc721(apes, 7n, buyer), erc20(weth, 25n, feeWallet)];
  const bid = { offerer: buyer, recipient: seller, offer: [erc20(weth, 1_000n)], consideration };
  const bought = { ...sold, side: 1, paymentToken: weth, price: '1000' };

  test('the price is what was offered; fees are paid out of it', () => {
    const logs = [orderFulfilled(bid), erc721Transfer(apes, seller, buyer, 7n)];
    expect(tradesOf(decodeExample(logs))).toEqual([bought]);
  });

  test('the buyer is who gets the token, not who paid for it', () => {
    const gift = { ...bid, offerer: other };
    expect(tradesOf(decodeExample([orderFulfilled(gift)]))).toEqual([bought]);
  });

  test('the seller is who gave the token, whoever else takes the money', () => {
    const logs = [orderFulfilled({ ...bid, recipient: other }), erc721Transfer(apes, seller, buyer, 7n)];
    expect(tradesOf(decodeExample(logs))).toEqual([bought]);
  });

  test('several tokens for one price are one trade', () => {
    const two = { ...bid, consideration: [erc721(apes, 7n, buyer), erc721(apes, 8n, buyer)] };
    expect(tradesOf(decodeExample([orderFulfilled(two)]))).toEqual([
      { ...bought, ids: ['7', '8'], amounts: ['1', '1'] },
    ]);
  });
});

test.each([
  ['NFT for NFT', [erc721(apes, 7n)], [erc721(cats, 8n, seller)]],
  ['NFT for NFT and money', [erc721(apes, 7n)], [erc721(cats, 8n, seller), native(5n, seller)]],
  ['NFT and money for money', [erc721(apes, 7n), erc20(usdc, 5n)], [erc20(weth, 5n, seller)]],
  ['money for money', [erc20(usdc, 5n)], [erc20(weth, 5n, seller)]],
  ['two currencies', [erc721(apes, 7n)], [erc20(usdc, 5n, seller), erc20(weth, 5n, seller)]],
  ['an offer in two currencies', [erc20(usdc, 5n), erc20(weth, 5n)], [erc721(apes, 7n, buyer)]],
  ['a gift', [erc721(apes, 7n)], []],
  ['nothing given', [], [native(5n, seller)]],
  ['nothing at all', [], []],
  ['no NFT left after rounding', [erc1155(cats, 1n, 0n)], [native(5n, seller)]],
])('no trade: %s', (_, offer, consideration) => {
  const order = { offerer: seller, recipient: buyer, offer, consideration };
  expect(decodeExample([orderFulfilled(order), erc721Transfer(apes, seller, buyer, 7n)])).toEqual([]);
});

describe('deployments', () => {
  const order = {
    offerer: seller,
    recipient: buyer,
    offer: [erc721(apes, 7n)],
    consideration: [native(1n, seller)],
  };

  test('the event of any other contract is no trade', () => {
    expect(decodeExample([orderFulfilled(order, other)])).toEqual([]);
  });

  test('a chain without NFT trades has none, and no topics', () => {
    const quiet = exampleChain({ nftTrades: false });
    expect(decodeExample([orderFulfilled(order)], quiet)).toEqual([]);
  });

  test('a chain may name its own deployment', () => {
    const devnet = exampleChain({ id: 31_337, marketplaces: [{ protocol: 'seaport-1.6', address: other }] });
    const [row] = decodeExample([orderFulfilled(order, other)], devnet);
    expect(row).toMatchObject({ marketplaceAddress: other, protocol: 'seaport-1.6', marketplace: 'opensea' });
    expect(decodeExample([orderFulfilled(order, SEAPORT_1_6)], devnet)).toEqual([]);
  });

  test.each([
    ['opensea', 'seaport-1.1', 137, '0x00000000006c3852cbef3e08e8df289169ede581'],
    ['opensea', 'seaport-1.2', 1, '0x00000000000006c7676171937c444f6bde3d6282'],
    ['opensea', 'seaport-1.3', 1, '0x0000000000000ad24e80fd803c6ac37206a45f15'],
    ['opensea', 'seaport-1.4', 56, '0x00000000000001ad428e4906ae43d8f9852d0dd6'],
    ['opensea', 'seaport-1.5', 8453, '0x00000000000000adc04c56bf30ac9d3c0aaf14dc'],
    ['opensea', 'seaport-1.6', 43_114, '0x0000000000000068f116a894984e2db1123eb395'],
    ['other', 'alienswap', 8453, '0x878dd5e0c3dedfebff67046bb218fb03c26e3e47'],
    ['other', 'okx', 1, '0x90a77dd8ae0525e08b1c2930eb2eb650e78c6725'],
    ['other', 'quix', 10, '0x998ef16ea4111094eb5ee72fc2c6f4e6e8647666'],
  ])('%s %s on chain %i', (marketplace, protocol, id, address) => {
    const rows = decodeExample([orderFulfilled(order, parseAddress(address))], exampleChain({ id }));
    expect(rows).toMatchObject([{ marketplace, protocol, marketplaceAddress: address }]);
  });
});

test('recipient zero: the buyer is whom the token went to, and without a transfer there is no trade', () => {
  const offer = [erc721(apes, 7n)];
  const order = { offerer: seller, recipient: ZERO_ADDRESS, offer, consideration: [native(1n, seller)] };
  expect(tradesOf(decodeExample([orderFulfilled(order), erc721Transfer(apes, seller, buyer, 7n)]))).toEqual([
    { ...sold, price: '1' },
  ]);
  expect(decodeExample([orderFulfilled(order)])).toEqual([]);
});
