import { type Address, parseAddress, ZERO_ADDRESS, ZERO_HASH } from '@chainstead/core';
import { parseAbiItem } from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeExample, tradesOf } from '../testing/example-trades.ts';
import {
  type ExampleLog,
  erc721Transfer,
  erc1155Transfer,
  exampleAddress,
  exampleLog,
  recordedLog,
} from '../testing/example-transaction.ts';

const BLUR_V1 = parseAddress('0x000000000000ad05ccc4f10045630fb830b95127');
const BLUR_V2 = parseAddress('0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5');
const BLUR_POOL = parseAddress('0x0000000000a39bb272e79075ade125fd351887ac');
const COLLECTION_BID = parseAddress('0x0000000000b92d5d043faf7cecf7e2ee6aaed232');
const LISTING = parseAddress('0x00000000006411739da1c40b106f8511de5d1fac');

const seller = exampleAddress(1);
const buyer = exampleAddress(2);
const router = exampleAddress(3);
const apes = exampleAddress(11);
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

describe('version 1', () => {
  const ORDERS_MATCHED = parseAbiItem([
    'event OrdersMatched(address indexed maker, address indexed taker, Order sell, bytes32 sellHash, Order buy, bytes32 buyHash)',
    'struct Order { address trader; uint8 side; address matchingPolicy; address collection; uint256 tokenId; uint256 amount; address paymentToken; uint256 price; uint256 listingTime; uint256 expirationTime; Fee[] fees; uint256 salt; bytes extraParams; }',
    'struct Fee { uint16 rate; address recipient; }',
  ]);
  const order = {
    matchingPolicy: LISTING,
    collection: apes,
    tokenId: 7n,
    amount: 1n,
    paymentToken: ZERO_ADDRESS,
    price: 100n,
    listingTime: 10n,
    expirationTime: 99n,
    fees: [{ rate: 50, recipient: router }],
    salt: 1n,
    extraParams: '0x01',
  };
  const matched = (sell: object, buy: object): ExampleLog =>
    exampleLog(BLUR_V1, ORDERS_MATCHED, {
      maker: seller,
      taker: buyer,
      sell: { ...order, trader: seller, side: 1, ...sell },
      sellHash: ZERO_HASH,
      buy: { ...order, trader: buyer, side: 0, listingTime: 20n, ...buy },
      buyHash: ZERO_HASH,
    });

  test('a listing bought; royalties are inside the price', () => {
    const rows = decodeExample([erc721Transfer(apes, seller, buyer, 7n), matched({}, {})]);
    expect(tradesOf(rows)).toEqual([{ ...sold, logIndex: 1 }]);
    expect(rows).toMatchObject([{ marketplace: 'blur', protocol: 'blur-v1' }]);
  });

  test('a collection bid has no id of its own: the one sold is the seller’s', () => {
    const terms = { matchingPolicy: COLLECTION_BID, paymentToken: BLUR_POOL };
    const log = matched(terms, { ...terms, tokenId: 0n });
    expect(tradesOf(decodeExample([erc721Transfer(apes, seller, buyer, 7n), log]))).toEqual([
      { ...sold, logIndex: 1, side: 1, paymentToken: BLUR_POOL },
    ]);
  });

  test('the older order was made first: a bid for one token', () => {
    const log = matched({ listingTime: 30n, paymentToken: BLUR_POOL }, { paymentToken: BLUR_POOL });
    expect(tradesOf(decodeExample([log]))).toMatchObject([{ side: 1, paymentToken: BLUR_POOL }]);
  });

  test('what a router bought is followed to its user', () => {
    const logs = [
      erc721Transfer(apes, seller, router, 7n),
      matched({}, { trader: router }),
      erc721Transfer(apes, router, buyer, 7n),
    ];
    expect(tradesOf(decodeExample(logs))).toEqual([{ ...sold, logIndex: 1 }]);
  });
});

// Real events with the transfers of their transactions.
test.each([
  {
    what: 'a listing without fees',
    transaction: '0xc199fd412393246039e22dcd70a8231bad64acee868b4e08349f9ec6509284d5',
    topic: '0x1d5e12b51dee5e4d34434576c3fb99714a85f57b0fd546ada4b0bddd736d12b2',
    data: '0x21b7d4ae06f010118c4c4e976182504160a6ad111f471ea8df38ad045ff7fa4000000000000000000020060083fa03a1747aafe4e0f0ec3880740f49d74f11580000000000354a6ba7a18000789e35a999c443fe6089544056f728239b8ffee7',
    token: '0x789e35a999c443fe6089544056f728239b8ffee7',
    from: '0x83fa03a1747aafe4e0f0ec3880740f49d74f1158',
    to: '0xf770e42fd25d745e9f25ab57cca3e96f7fe62d14',
    id: 8198n,
    paid: { side: 0, paymentToken: null, price: '15000000000000000' },
  },
  {
    what: 'a listing with a maker fee',
    transaction: '0x6e3baa0eedd5b4e14d2ffd751afee23fc64066b89e6eb5725a12fd0e9e334331',
    topic: '0x7dc5c0699ac8dd5250cbe368a2fc3b4a2daadb120ad07f6cccea29f83482686e',
    data: '0x5d5a001f37e18c020eddbd9e25fd98dabfe3f0a3d263b841dd2a7891f9eb6f250000000000000000000ae70027aced470e1e232babf2da93a78269bb5739c48c00000000061b31ab352c00006c952af158ec8d0fd94908e389c084394d9aebbb00000000000000000000003229ffea86733d7feac7c353343f300e99b8910c77',
    token: '0x6c952af158ec8d0fd94908e389c084394d9aebbb',
    from: '0x27aced470e1e232babf2da93a78269bb5739c48c',
    to: '0x3ab15e75203dfce15c450a6cc1b205a33d40e7ea',
    id: 2791n,
    paid: { side: 0, paymentToken: null, price: '440000000000000000' },
  },
  {
    what: 'a bid, royalty as taker fee',
    transaction: '0x9858aed50bafc8f95241730d1a43b66fffb5d8e9b95a2a89917d74f73ce65771',
    topic: '0x0fcf17fac114131b10f37b183c6a60f905911e52802caeeb3e6ea210398b81ab',
    data: '0x00ac3680a1ab578def3e4473c47ed80aa51b9bc3046cf80585a56f9a485f8e890000000000000000000dff001e863363f0aea30d45bc4224783b48cdd1f3d90d010000000b1a2bc2ec5000006339e5e072086621540d0362c4e3cea0d643e114000000000000000000000032c8f8e2f59dd95ff67c3d39109eca2e2a017d4c8a',
    token: '0x6339e5e072086621540d0362c4e3cea0d643e114',
    from: '0x1c4351c97177418cec07ff733f107fb9879dbed1',
    to: '0x1e863363f0aea30d45bc4224783b48cdd1f3d90d',
    id: 3583n,
    paid: { side: 1, paymentToken: BLUR_POOL, price: '800000000000000000' },
  },
] as const)('version 2, $transaction: $what', ({ topic, data, token, from, to, id, paid }) => {
  const [collection, giver, receiver] = [parseAddress(token), parseAddress(from), parseAddress(to)];
  const logs = [erc721Transfer(collection, giver, receiver, id), recordedLog(BLUR_V2, topic, data)];
  const parties = { token: collection, seller: giver, buyer: receiver };
  expect(tradesOf(decodeExample(logs))).toEqual([
    { logIndex: 1, ids: [String(id)], amounts: ['1'], ...parties, ...paid },
  ]);
});

describe('version 2, the whole event', () => {
  const EXECUTION = parseAbiItem([
    'event Execution(Transfer transfer, bytes32 orderHash, uint256 listingIndex, uint256 price, FeeRate makerFee, Fees fees, uint8 orderType)',
    'struct Transfer { address trader; uint256 id; uint256 amount; address collection; uint8 assetType; }',
    'struct FeeRate { address recipient; uint16 rate; }',
    'struct Fees { FeeRate protocolFee; FeeRate takerFee; }',
  ]);
  const noFee = { recipient: ZERO_ADDRESS, rate: 0 };
  const executed = (trader: Address, amount: bigint, orderType = 0, assetType = 1): ExampleLog =>
    exampleLog(BLUR_V2, EXECUTION, {
      transfer: { trader, id: 7n, amount, collection: apes, assetType },
      orderHash: ZERO_HASH,
      listingIndex: 0n,
      price: 100n,
      makerFee: noFee,
      fees: { protocolFee: noFee, takerFee: noFee },
      orderType,
    });

  test('an ERC-1155 amount; the price is for all of it', () => {
    const logs = [erc1155Transfer(apes, seller, buyer, 7n, 4n), executed(seller, 4n)];
    expect(tradesOf(decodeExample(logs))).toEqual([{ ...sold, logIndex: 1, amounts: ['4'] }]);
  });

  test('an ERC-721 may have amount zero', () => {
    const logs = [erc721Transfer(apes, seller, buyer, 7n), executed(seller, 0n, 0, 0)];
    expect(tradesOf(decodeExample(logs))).toEqual([{ ...sold, logIndex: 1 }]);
  });

  test('equal executions take the transfers in turn', () => {
    const logs = [
      erc1155Transfer(apes, seller, buyer, 7n, 1n),
      erc1155Transfer(apes, seller, router, 7n, 1n),
      executed(seller, 1n),
      executed(seller, 1n),
    ];
    expect(tradesOf(decodeExample(logs)).map((trade) => trade.buyer)).toEqual([buyer, router]);
  });

  test('a bid: the seller is whom the token came from', () => {
    const logs = [erc1155Transfer(apes, seller, buyer, 7n, 1n), executed(buyer, 1n, 1)];
    expect(tradesOf(decodeExample(logs))).toEqual([{ ...sold, logIndex: 1, side: 1, paymentToken: BLUR_POOL }]);
  });

  test('without its transfer, or of an unknown type, there is no trade', () => {
    const transfer = erc1155Transfer(apes, seller, buyer, 7n, 1n);
    expect(decodeExample([executed(seller, 1n)])).toEqual([]);
    expect(decodeExample([transfer, executed(seller, 1n, 2)])).toEqual([]);
  });
});
