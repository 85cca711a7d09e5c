import type { Address } from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import type { AbiItem, Stream } from '../stream.ts';
import { sightAddresses } from './block-sightings.ts';
import { compileStream } from './compile-stream.ts';
import type { Match } from './match.ts';
import { indexStreams } from './stream-index.ts';
import { type ExampleTransaction, exampleBlock, exampleHash, exampleLog } from './testing/example-block.ts';
import {
  ERC20_TRANSFER,
  ERC721_TRANSFER,
  EXAMPLE_CHAIN_ID,
  eventItem,
  exampleAddress,
  exampleStream,
  TRANSFER_SIGNATURE,
} from './testing/example-stream.ts';
import { matchWhole } from './testing/match-whole.ts';
import { storedAndRestored } from './testing/stored-and-restored.ts';

const [ALICE, BOB, CAROL, TOKEN, NFT] = [0xa1, 0xb0, 0xca, 0xee, 0xef].map(exampleAddress) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
const APPROVAL = eventItem('event Approval(address indexed owner, address indexed spender, uint256 value)');

const erc20 = (from: Address, to: Address, value = 5n) => exampleLog(TOKEN, ERC20_TRANSFER, { from, to, value });
const erc721 = (from: Address, to: Address) => exampleLog(NFT, ERC721_TRANSFER, { from, to, tokenId: 7n });
const approval = (owner: Address, spender: Address) => exampleLog(TOKEN, APPROVAL, { owner, spender, value: 1n });

interface Case {
  /** Emitters that belong to the contract `vault`, and the event of their logs. */
  readonly vault?: ReadonlyMap<Address, AbiItem>;
  readonly config: Partial<Stream>;
  readonly addresses?: readonly Address[];
  readonly spam?: readonly Address[];
  readonly transactions: readonly ExampleTransaction[];
}

function matchOne({
  config,
  addresses = [],
  spam = [],
  vault = new Map(),
  transactions,
}: Case): Match | undefined {
  const stream = exampleStream(config);
  const watched = new Map(addresses.map((address) => [address, [stream.id]]));
  const index = indexStreams([compileStream(stream)], EXAMPLE_CHAIN_ID);
  const sightings = sightAddresses(exampleBlock(transactions));
  const named = new Map(
    sightings.block.logs.flatMap((log) => {
      const item = vault.get(log.address);
      return item === undefined ? [] : [[log, [{ name: 'vault', item }]] as const];
    }),
  );
  const matches = matchWhole(sightings, watched, index, { isSpam: (one) => spam.includes(one), named });
  expect(matches.length).toBeLessThan(2);
  return matches[0];
}

const logPlaces = (match: Match | undefined) => match?.logs.map(({ logIndex }) => logIndex);
const hashes = (match: Match | undefined) => match?.transactions.map(({ hash }) => hash);

describe('native transactions', () => {
  test('match their sender and their receiver, with what the node says of them', () => {
    const match = matchOne({
      config: { includeNativeTxs: true },
      addresses: [ALICE, BOB],
      transactions: [
        { from: CAROL, to: TOKEN },
        { from: ALICE, to: BOB, transaction: { gas: '0x5208', chainId: '0x1' }, receipt: { gasUsed: '0x5208' } },
        { from: CAROL, to: ALICE },
        { from: BOB, to: null },
      ],
    });
    expect(hashes(match)).toEqual([exampleHash(1), exampleHash(2), exampleHash(3)]);
    expect(match?.transactions[0]).toEqual({
      hash: exampleHash(1),
      index: 1,
      from: ALICE,
      to: BOB,
      transaction: { gas: '0x5208', value: '0x0' },
      receipt: { gasUsed: '0x5208', status: '0x1' },
      fee: null,
      triggeredBy: [ALICE, BOB],
    });
    expect(match?.transactions.map(({ triggeredBy }) => triggeredBy)).toEqual([[ALICE, BOB], [ALICE], [BOB]]);
    expect(match?.triggeredBy).toEqual([ALICE, BOB]);
  });
});

describe('contract logs', () => {
  const includeContractLogs = true;

  test('match their emitter, indexed addresses and addresses in the data', () => {
    const inData = eventItem('event Named(uint256 indexed id, bytes32 name, address who)');
    const named = exampleLog(NFT, inData, { id: 3n, name: `0x${'11'.repeat(32)}`, who: ALICE });
    const match = matchOne({
      config: { includeContractLogs },
      addresses: [ALICE, TOKEN],
      transactions: [
        { from: CAROL, to: NFT, logs: [erc20(BOB, CAROL), erc721(ALICE, BOB), named, erc721(BOB, CAROL)] },
      ],
    });
    expect(match?.logs.map(({ triggeredBy }) => triggeredBy)).toEqual([[TOKEN], [ALICE], [ALICE]]);
    expect(match?.transactions).toEqual([]);
  });

  test('with topic0 are only those, however the signature is given', () => {
    const transactions = [{ from: CAROL, to: TOKEN, logs: [erc20(ALICE, BOB), approval(ALICE, BOB)] }];
    const hash = '0xDDF252AD1BE2C89B69C2B068FC378DAA952BA7F163C4A11628F55A4DF523B3EF';
    for (const topic0 of [[TRANSFER_SIGNATURE], [hash]]) {
      const config = { includeContractLogs, topic0, abi: [ERC20_TRANSFER] };
      expect(logPlaces(matchOne({ config, addresses: [ALICE], transactions }))).toEqual([0]);
    }
  });
});

describe('logs of a contract that the stream names', () => {
  const transactions = [
    { from: CAROL, to: TOKEN, logs: [erc20(ALICE, BOB, 5n), erc721(ALICE, BOB)] },
    { from: CAROL, to: TOKEN, logs: [erc20(BOB, CAROL, 50n), approval(BOB, CAROL)] },
  ];
  const vault = new Map([[NFT, ERC721_TRANSFER]]);
  const config = { includeContractLogs: true, contracts: ['vault'] };

  test('match without watched addresses, and describe their events', () => {
    const match = matchOne({ config, vault, transactions });
    expect(match?.logs.map(({ logIndex, triggeredBy }) => [logIndex, triggeredBy])).toEqual([[1, [NFT]]]);
    expect(match?.events).toEqual([ERC721_TRANSFER]);
    expect(match?.triggeredBy).toEqual([NFT]);
    expect(matchOne({ config: { ...config, contracts: ['other'] }, vault, transactions })).toBeUndefined();
    expect(matchOne({ config, transactions })).toBeUndefined();
  });

  test('match next to logs of watched addresses, whose topic0 leaves them alone', () => {
    const topic0 = ['Approval(address,address,uint256)'];
    const match = matchOne({ config: { ...config, topic0 }, addresses: [BOB], vault, transactions });
    expect(match?.logs.map(({ logIndex, triggeredBy }) => [logIndex, triggeredBy])).toEqual([
      [1, [NFT]],
      [3, [BOB]],
    ]);
    const both = matchOne({ config, addresses: [ALICE], vault, transactions });
    expect(both?.logs.map(({ triggeredBy }) => triggeredBy)).toEqual([[ALICE], [ALICE, NFT]]);
  });

  test('bring all logs of their transactions, and obey filters and spam flags', () => {
    const all = matchOne({ config: { ...config, includeAllTxLogs: true }, vault, transactions });
    expect(logPlaces(all)).toEqual([0, 1]);
    expect(all?.events).toEqual([ERC721_TRANSFER]);
    const spam = { ...config, filterPossibleSpamAddresses: true };
    expect(matchOne({ config: spam, spam: [NFT], vault, transactions })).toBeUndefined();
    const advancedOptions = [
      { topic0: TRANSFER_SIGNATURE, filter: { gt: ['value', '10'] }, includeNativeTxs: true },
    ];
    const filtered = { ...config, abi: [ERC20_TRANSFER], advancedOptions };
    const match = matchOne({ config: filtered, vault: new Map([[TOKEN, ERC20_TRANSFER]]), transactions });
    expect([logPlaces(match), hashes(match)]).toEqual([[2, 3], [exampleHash(1)]]);
  });
});

describe('advanced options', () => {
  const transactions = [
    { from: CAROL, to: TOKEN, logs: [erc20(ALICE, BOB, 5n), approval(ALICE, BOB)] },
    { from: CAROL, to: TOKEN, logs: [erc20(ALICE, BOB, 50n)] },
  ];
  const base = { includeContractLogs: true, topic0: [TRANSFER_SIGNATURE, 'Approval(address,address,uint256)'] };
  const abi = [ERC20_TRANSFER, APPROVAL];

  test('let only logs of their topic0 pass that their filter accepts, and bring the transaction', () => {
    const filter = { gt: ['value', '10'] };
    const advancedOptions = [{ topic0: TRANSFER_SIGNATURE, filter, includeNativeTxs: true }];
    const match = matchOne({ config: { ...base, abi, advancedOptions }, addresses: [ALICE], transactions });
    expect(logPlaces(match)).toEqual([1, 2]);
    expect(hashes(match)).toEqual([exampleHash(1)]);
    expect(match?.transactions[0]?.triggeredBy).toEqual([ALICE]);
  });

  test.each([
    [{ eq: ['moralis_streams_contract_address', TOKEN] }, true],
    [{ ne: ['moralis_streams_contract_address', TOKEN] }, false],
    [{ eq: ['moralis_streams_chain_id', '0x1'] }, true],
    [{ in: ['moralis_streams_chain_id', ['0x38', '137']] }, false],
    [{ eq: ['moralis_streams_possibleSpam', true] }, true],
    [{ eq: ['moralis_streams_possibleSpam', false] }, false],
  ])('know the special variables: %j gives %s', (filter, expected) => {
    const advancedOptions = [{ topic0: TRANSFER_SIGNATURE, filter }];
    const config = { ...base, topic0: [TRANSFER_SIGNATURE], abi, advancedOptions };
    const match = matchOne({ config, addresses: [ALICE], spam: [TOKEN], transactions });
    expect(logPlaces(match)).toEqual(expected ? [0, 2] : undefined);
  });
});

describe('matching a block', () => {
  test('gives a match for each stream that has something, ordered by id, and leaves other chains alone', () => {
    const ids = ['c', 'a', 'b', 'd'];
    const streams = ids.map((id) =>
      exampleStream({ id, includeNativeTxs: id !== 'd', includeContractLogs: id === 'd' }),
    );
    const elsewhere = exampleStream({ id: 'e', includeNativeTxs: true, chainIds: [] });
    const index = indexStreams([...streams, elsewhere].map(compileStream), EXAMPLE_CHAIN_ID);
    const watched = new Map([[ALICE, [...ids, 'e', 'unknown']]]);
    const sightings = sightAddresses(exampleBlock([{ from: ALICE, to: BOB }]));
    const matches = matchWhole(sightings, watched, index, { isSpam: () => false });
    expect(matches.map(({ streamId }) => streamId)).toEqual(['a', 'b', 'c']);
  });

  test('can be stored as references to items and restored', () => {
    const config = { includeNativeTxs: true, includeContractLogs: true, includeInternalTxs: true };
    const transfers = [{ from: TOKEN, to: ALICE, value: 2n ** 255n }];
    const transactions = [{ from: ALICE, to: TOKEN, logs: [erc20(ALICE, BOB)], transfers }];
    const match = matchOne({ config, addresses: [ALICE], transactions });
    expect(match?.internalTransactions).toHaveLength(1);
    expect(match && storedAndRestored(match)).toEqual(match);
    expect(JSON.stringify(matchOne({ config, addresses: [ALICE], transactions }))).toBe(JSON.stringify(match));
  });

  test('an index tells what its streams need to see', () => {
    const needs = (...configs: readonly Partial<Stream>[]) =>
      indexStreams(
        configs.map((config) => compileStream(exampleStream(config))),
        EXAMPLE_CHAIN_ID,
      ).needs;
    expect(needs()).toEqual({ transactions: false, internalTransfers: false });
    expect(needs({ includeContractLogs: true })).toEqual({ transactions: false, internalTransfers: false });
    expect(needs({ includeNativeTxs: true }, {})).toEqual({ transactions: true, internalTransfers: false });
    expect(needs({ includeInternalTxs: true }, { includeAllTxLogs: true })).toEqual({
      transactions: true,
      internalTransfers: true,
    });
    const advancedOptions = [{ topic0: TRANSFER_SIGNATURE, includeNativeTxs: true }];
    expect(needs({ advancedOptions })).toEqual({ transactions: true, internalTransfers: false });
  });

  test('a stream whose configuration says nothing readable matches nothing and throws nothing', () => {
    const odd = {
      topic0: ['not a signature'],
      abi: [{ type: 'event' }],
      advancedOptions: [{ topic0: '0x', filter: { like: [] } }],
    };
    const config = { ...odd, includeContractLogs: true, allAddresses: true };
    const transactions = [{ from: ALICE, to: TOKEN, logs: [erc20(ALICE, BOB)] }];
    expect(matchOne({ config, addresses: [ALICE], transactions })).toBeUndefined();
  });
});
