import { type Address, parseAddress, ZERO_ADDRESS, ZERO_HASH } from '@chainstead/core';
import { exampleChain } from '@chainstead/testkit';
import { parseAbiItem } from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeExample, tradesOf } from '../testing/example-trades.ts';
import {
  type ExampleLog,
  erc20Transfer,
  erc721Transfer,
  erc1155Transfer,
  exampleAddress,
  exampleLog,
  unindexedTransfer,
} from '../testing/example-transaction.ts';
import { erc721, native, orderFulfilled, orderHash, SEAPORT_1_1 } from './testing/example-seaport.ts';

const ORDERS_MATCHED = parseAbiItem(
  'event OrdersMatched(bytes32 buyHash, bytes32 sellHash, address indexed maker, address indexed taker, uint256 price, bytes32 indexed metadata)',
);
const WYVERN_2_2 = parseAddress('0x7be8076f4ea4a4ad08075c2508e481d6c946d12b');
const WYVERN_2_3 = parseAddress('0x7f268357a8c2552623316e2562d90e642bb538e5');
const KITTIES = parseAddress('0x06012c8cf97bead5deae237070f9587f8e7a266d');

const seller = exampleAddress(1);
const buyer = exampleAddress(2);
const router = exampleAddress(3);
const feeWallet = exampleAddress(4);
const secondSeller = exampleAddress(5);
const apes = exampleAddress(11);
const cats = exampleAddress(12);
const weth = exampleAddress(13);

interface Match {
  readonly maker: Address;
  readonly taker: Address;
  readonly price?: bigint;
  readonly buyHash?: string;
  readonly sellHash?: string;
}

function matched({ maker, taker, price = 100n, ...hashes }: Match, wyvern = WYVERN_2_3): ExampleLog {
  const args = { buyHash: ZERO_HASH, sellHash: orderHash(1), metadata: ZERO_HASH, ...hashes };
  return exampleLog(wyvern, ORDERS_MATCHED, { ...args, maker, taker, price });
}

const listing = (taker = buyer, maker = seller) => matched({ maker, taker });
const acceptedBid = matched({ maker: buyer, taker: seller, buyHash: orderHash(1), sellHash: ZERO_HASH });
const sold = {
  token: apes,
  ids: ['7'],
  amounts: ['1'],
  seller,
  buyer,
  side: 0,
  paymentToken: null,
  price: '100',
};

test('the token is the one that moved before the event', () => {
  const rows = decodeExample([erc721Transfer(apes, seller, buyer, 7n), listing()]);
  expect(tradesOf(rows)).toEqual([{ ...sold, logIndex: 1 }]);
  expect(rows).toMatchObject([
    { protocol: 'wyvern-2.3', marketplace: 'opensea', marketplaceAddress: WYVERN_2_3 },
  ]);
});

test('both versions in one sweep, each with its own token, paid through a router that is taker of both', () => {
  const logs = [
    erc721Transfer(apes, seller, buyer, 7n),
    listing(router),
    erc721Transfer(cats, secondSeller, buyer, 8n),
    matched({ maker: secondSeller, taker: router }, WYVERN_2_2),
  ];
  expect(tradesOf(decodeExample(logs)).sort((one, other) => one.logIndex - other.logIndex)).toEqual([
    { ...sold, logIndex: 1 },
    { ...sold, logIndex: 3, seller: secondSeller, token: cats, ids: ['8'] },
  ]);
});

test('an accepted bid: maker and taker change roles', () => {
  const logs = [erc20Transfer(weth, buyer, seller, 100n), erc721Transfer(apes, seller, buyer, 7n), acceptedBid];
  expect(tradesOf(decodeExample(logs))).toEqual([{ ...sold, logIndex: 2, side: 1, paymentToken: weth }]);
});

test('a helper that sells for somebody: the seller is whom it had the token from', () => {
  const bid = matched({ maker: buyer, taker: router, buyHash: orderHash(1), sellHash: ZERO_HASH });
  const logs = [
    erc721Transfer(apes, seller, router, 7n),
    erc20Transfer(weth, buyer, router, 100n),
    erc721Transfer(apes, router, buyer, 7n),
    bid,
  ];
  expect(tradesOf(decodeExample(logs))).toEqual([{ ...sold, logIndex: 3, side: 1, paymentToken: weth }]);
});

test('two signed orders matched by a third: whoever gave the token is the seller', () => {
  const both = matched({ maker: buyer, taker: seller, buyHash: orderHash(1), sellHash: orderHash(2) });
  const logs = [erc721Transfer(apes, seller, buyer, 7n), both];
  expect(tradesOf(decodeExample(logs))).toEqual([{ ...sold, logIndex: 1, side: 2 }]);
});

describe('the payment', () => {
  test('is the token of which the buyer paid the seller the whole price; fees come out of it', () => {
    const logs = [
      erc20Transfer(cats, buyer, seller, 3n),
      erc20Transfer(weth, buyer, seller, 100n),
      erc20Transfer(weth, seller, feeWallet, 10n),
      erc721Transfer(apes, seller, buyer, 7n),
      listing(),
    ];
    expect(tradesOf(decodeExample(logs))).toEqual([{ ...sold, logIndex: 4, paymentToken: weth }]);
  });

  test('is the native currency where a router took wrapped native currency and paid with the unwrapped', () => {
    const logs = [
      erc20Transfer(weth, buyer, router, 100n),
      erc721Transfer(apes, seller, buyer, 7n),
      listing(router),
    ];
    expect(tradesOf(decodeExample(logs))).toEqual([{ ...sold, logIndex: 2 }]);
  });

  test('of the fill before is not that of the next', () => {
    const logs = [
      erc20Transfer(weth, buyer, seller, 100n),
      erc721Transfer(apes, seller, buyer, 7n),
      listing(),
      erc721Transfer(apes, seller, buyer, 8n),
      listing(),
    ];
    expect(tradesOf(decodeExample(logs)).map(({ ids, paymentToken }) => [...ids, paymentToken])).toEqual([
      ['7', weth],
      ['8', null],
    ]);
  });
});

describe('tokens', () => {
  test('a bundle of several collections through the atomicizer', () => {
    const logs = [
      erc721Transfer(apes, seller, buyer, 7n),
      erc721Transfer(apes, seller, buyer, 3n),
      erc1155Transfer(cats, seller, buyer, 9n, 5n),
      listing(),
    ];
    expect(tradesOf(decodeExample(logs))).toEqual([
      { ...sold, logIndex: 3, ids: ['7', '3'], amounts: ['1', '1'] },
      { ...sold, logIndex: 3, token: cats, ids: ['9'], amounts: ['5'] },
    ]);
  });

  test('CryptoKitties, whose transfers have nothing indexed', () => {
    const chain = exampleChain({ unindexedNfts: [KITTIES] });
    const logs = [unindexedTransfer(KITTIES, seller, buyer, 7n), listing()];
    expect(tradesOf(decodeExample(logs, chain))).toEqual([{ ...sold, logIndex: 1, token: KITTIES }]);
  });

  test('the shared storefront mints when it sells', () => {
    const logs = [erc1155Transfer(apes, ZERO_ADDRESS, buyer, 7n, 1n), listing()];
    expect(tradesOf(decodeExample(logs))).toEqual([{ ...sold, logIndex: 1 }]);
  });

  test('one that moves twice on its way counts once, and goes to the last', () => {
    const logs = [
      erc721Transfer(apes, seller, router, 7n),
      erc721Transfer(apes, router, buyer, 7n),
      listing(router),
    ];
    expect(tradesOf(decodeExample(logs))).toEqual([{ ...sold, logIndex: 2 }]);
  });

  test('a transfer reported twice counts once', () => {
    const logs = [erc721Transfer(apes, seller, buyer, 7n), erc721Transfer(apes, seller, buyer, 7n), listing()];
    expect(tradesOf(decodeExample(logs))).toEqual([{ ...sold, logIndex: 2 }]);
  });

  test('of another marketplace, before, are not part of it', () => {
    const offer = {
      offerer: seller,
      recipient: buyer,
      offer: [erc721(cats, 8n)],
      consideration: [native(5n, seller)],
    };
    const logs = [
      erc721Transfer(cats, seller, buyer, 8n),
      orderFulfilled(offer, SEAPORT_1_1),
      erc721Transfer(apes, seller, buyer, 7n),
      listing(),
    ];
    expect(tradesOf(decodeExample(logs)).map(({ token, ids }) => [token, ...ids])).toEqual([
      [cats, '8'],
      [apes, '7'],
    ]);
  });

  test('without any there is no trade', () => {
    expect(decodeExample([erc20Transfer(weth, buyer, seller, 100n), listing()])).toEqual([]);
  });
});
