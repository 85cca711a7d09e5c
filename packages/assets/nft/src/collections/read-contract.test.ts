import type { Address, Hex } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { type ChainNode, exampleChain, examplePool, MULTICALL3_ADDRESS } from '@chainstead/testkit';
import { decodeFunctionData, encodeFunctionResult, parseAbi } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ContractReader,
  type ContractReading,
  createContractReader,
  type SeenEvents,
} from './read-contract.ts';
import {
  addressOf,
  asksFor,
  type ExampleContract,
  exampleCollection,
  FALSE,
  serveContracts,
  TRUE,
  textOf,
  wordOf,
} from './testing/example-contracts.ts';

const OWNER = wordOf(0xabcdn);
const BALANCE_OF = `0x70a08231${wordOf(1n).slice(2)}`;
const OWNER_OF_1 = `0x6352211e${wordOf(1n).slice(2)}`;
const BALANCE_OF_ID = `0x00fdd58e${wordOf(1n).slice(2)}${wordOf(0n).slice(2)}`;
const URI_0 = `0x0e89341c${wordOf(0n).slice(2)}`;
const DECIMALS = '0x313ce567';
const NAME = '0x06fdde03';
const everything = { default: TRUE };

const [PUNKS, KITTIES] = [addressOf(900), addressOf(901)];
const NOT_SEEN: SeenEvents = { erc721: false, erc1155: false };
const SEEN_721: SeenEvents = { erc721: true, erc1155: false };
const SEEN_1155: SeenEvents = { erc721: false, erc1155: true };

const padded = (answer: Hex): Hex => `${answer}${'0'.repeat(128)}`;

type Case = readonly [
  what: string,
  contract: ExampleContract | null,
  seen: SeenEvents,
  standard: ContractReading['standard'],
];
const CASES: readonly Case[] = [
  ['ERC-721 by ERC-165', exampleCollection('erc721'), NOT_SEEN, 'erc721'],
  ['ERC-1155 by ERC-165', exampleCollection('erc1155'), NOT_SEEN, 'erc1155'],
  ['ERC-721 that forgets ERC-165 itself', { [asksFor('0x80ac58cd')]: TRUE }, NOT_SEEN, 'erc721'],
  [
    'both, whose events are of ERC-1155',
    { ...exampleCollection('erc721'), [asksFor('0xd9b67a26')]: TRUE },
    SEEN_1155,
    'erc1155',
  ],
  [
    'both, whose events nobody has seen',
    { ...exampleCollection('erc721'), [asksFor('0xd9b67a26')]: TRUE },
    NOT_SEEN,
    'erc721',
  ],
  ['one thing by ERC-165 and another by its events', exampleCollection('erc721'), SEEN_1155, 'erc721'],
  ['silent, with events of ERC-721', { [NAME]: textOf('Old') }, SEEN_721, 'erc721'],
  ['silent, with events of ERC-1155', {}, SEEN_1155, 'erc1155'],
  ['gone, with events of ERC-721', null, SEEN_721, 'erc721'],
  ['silent, behaving as ERC-721', { [BALANCE_OF]: wordOf(3n), [OWNER_OF_1]: OWNER }, NOT_SEEN, 'erc721'],
  [
    'denying it by ERC-165, behaving as ERC-721',
    {
      [asksFor('0x01ffc9a7')]: TRUE,
      [asksFor('0x80ac58cd')]: FALSE,
      [BALANCE_OF]: wordOf(3n),
      [OWNER_OF_1]: OWNER,
    },
    NOT_SEEN,
    'erc721',
  ],
  [
    'silent, behaving as ERC-1155',
    { [BALANCE_OF_ID]: wordOf(0n), [URI_0]: textOf('ipfs://x/{id}') },
    NOT_SEEN,
    'erc1155',
  ],
  [
    'silent, whose owners are no addresses',
    { [BALANCE_OF]: wordOf(3n), [OWNER_OF_1]: wordOf(2n ** 200n) },
    NOT_SEEN,
    null,
  ],
  ['silent, whose owner is nobody', { [BALANCE_OF]: wordOf(3n), [OWNER_OF_1]: wordOf(0n) }, NOT_SEEN, null],
  [
    'claiming ERC-721 in more bytes than a word',
    { [asksFor('0x01ffc9a7')]: padded(TRUE), [asksFor('0x80ac58cd')]: padded(TRUE) },
    NOT_SEEN,
    'erc721',
  ],
  [
    'silent, behaving as ERC-721 in more bytes than a word',
    { [BALANCE_OF]: padded(wordOf(3n)), [OWNER_OF_1]: padded(OWNER) },
    NOT_SEEN,
    'erc721',
  ],
  ['an ERC-20', { [DECIMALS]: wordOf(18n), [BALANCE_OF]: wordOf(3n), [OWNER_OF_1]: OWNER }, NOT_SEEN, null],
  ['a contract that answers everything with true', everything, NOT_SEEN, null],
  ['a contract that answers everything with an owner', { default: OWNER }, NOT_SEEN, null],
  ['a contract that answers nothing', {}, NOT_SEEN, null],
  ['an account without code', null, NOT_SEEN, null],
];
const contracts = new Map<Address, ExampleContract>([
  [PUNKS, { [DECIMALS]: wordOf(0n), [NAME]: textOf('CRYPTOPUNKS') }],
  [KITTIES, { [NAME]: textOf('CryptoKitties') }],
]);
for (const [index, [, contract]] of CASES.entries())
  if (contract !== null) contracts.set(addressOf(index), contract);

const MULTICALL3 = parseAbi([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable returns ((bool success, bytes returnData)[])',
]);
let aggregates = 0;

describe.each(['by single calls', 'through Multicall3'] as const)('a contract read %s', (way) => {
  let node: ChainNode & { readonly chainId: number };
  let pool: UpstreamPool;
  let reader: ContractReader;

  beforeAll(async () => {
    node = await serveContracts(contracts, undefined, {
      [MULTICALL3_ADDRESS]: (data) => {
        aggregates += 1;
        const { args } = decodeFunctionData({ abi: MULTICALL3, data });
        const results = args[0].map(({ target, callData }) => {
          const answers = contracts.get(target.toLowerCase() as Address);
          const answer = answers?.[callData] ?? answers?.default;
          const returnData = typeof answer === 'function' ? answer() : (answer ?? '0x');
          return { success: answer !== undefined || answers === undefined, returnData };
        });
        return encodeFunctionResult({ abi: MULTICALL3, functionName: 'aggregate3', result: results });
      },
    });
    const multicall3 = way === 'by single calls' ? null : { address: MULTICALL3_ADDRESS, blockCreated: 0 };
    const chain = exampleChain({ id: node.chainId, multicall3, cryptoPunks: PUNKS, unindexedNfts: [KITTIES] });
    pool = await examplePool(chain, node.url);
    reader = createContractReader({ chain, pool });
  });
  afterAll(async () => {
    await pool.close();
    await node.close();
  });

  const read = (address: Address, seen = NOT_SEEN): Promise<ContractReading> =>
    reader.readCollection(address, seen, new AbortController().signal);

  test.each(
    CASES.map(([what, contract, seen, standard], index) => [what, index, contract, seen, standard] as const),
  )('is told for what it is: %s', async (_, index, contract, seen, standard) => {
    const wasSeen = seen.erc721 || seen.erc1155;
    expect(await read(addressOf(index), seen)).toMatchObject({
      standard,
      isContract: contract !== null || wasSeen,
    });
  });

  test('that is older than the standards is known by its address', async () => {
    expect(await read(PUNKS)).toMatchObject({ standard: 'erc721', name: 'CRYPTOPUNKS' });
    expect(await read(KITTIES)).toMatchObject({ standard: 'erc721', name: 'CryptoKitties' });
  });

  test('tells its texts, clean, and its URIs as they are', async () => {
    contracts.set(
      addressOf(800),
      exampleCollection('erc721', {
        name: ' A\0B\u202e ',
        symbol: '',
        contractUri: ' ipfs://x ',
        baseUri: 'https://b/\n',
      }),
    );
    expect(await read(addressOf(800))).toEqual({
      isContract: true,
      standard: 'erc721',
      name: 'AB',
      symbol: null,
      contractUri: ' ipfs://x ',
      baseUri: 'https://b/\n',
    });
  });

  test('used the way that was meant', () => {
    if (way === 'by single calls') expect(aggregates).toBe(0);
    else expect(aggregates).toBeGreaterThan(0);
  });
});
