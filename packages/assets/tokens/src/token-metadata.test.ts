import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import {
  type ChainNode,
  createScriptedChain,
  exampleChain,
  examplePool,
  MULTICALL3_ADDRESS,
  type ScriptedToken,
  serveScriptedChain,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTokenMetadataReader, type TokenMetadata } from './token-metadata.ts';

const scripted = createScriptedChain({ seed: 3 });
const neverAborted = new AbortController().signal;
const NOBODY = parseAddress(`0x${'de'.repeat(20)}`);
const chainWith = (multicall3: Chain['multicall3']): Chain =>
  exampleChain({ id: scripted.chainId, key: 'scripted', multicall3 });

describe.each([
  ['through Multicall3', { address: MULTICALL3_ADDRESS, blockCreated: 0 }],
  ['where Multicall3 is announced but not deployed', { address: NOBODY, blockCreated: 0 }],
  ['by single calls', null],
])('token metadata %s', (_, multicall3) => {
  let node: ChainNode;
  let pool: UpstreamPool;
  let metadata: Map<Address, TokenMetadata>;

  beforeAll(async () => {
    node = await serveScriptedChain(scripted);
    const chain = chainWith(multicall3);
    pool = await examplePool(chain, node.url);
    metadata = await createTokenMetadataReader({ pool, chain }).read(
      [...scripted.tokens.map((token) => token.address), NOBODY],
      neverAborted,
    );
  });
  afterAll(async () => {
    await pool.close();
    await node.close();
  });

  const tokenWith = (trait: string): ScriptedToken => {
    const token = scripted.tokens.find((each) => each.trait === trait);
    if (token === undefined) throw new Error(`no token with trait ${trait}`);
    return token;
  };
  const metadataOf = (trait: string): TokenMetadata | undefined => metadata.get(tokenWith(trait).address);

  test('of honest tokens are what their authors wrote', () => {
    const honest = scripted.tokens.filter((token) => token.facts !== null && token.kind === 'erc20');
    expect(honest.length).toBeGreaterThan(4);
    for (const token of honest)
      expect(metadata.get(token.address)).toEqual({ ...token.facts, standard: 'erc20', answered: true });
  });

  test('of NFTs say so by ERC-165, also when their transfers look like ERC-20', () => {
    for (const token of scripted.tokens.filter((each) => each.kind !== 'erc20'))
      expect(metadata.get(token.address)).toMatchObject({
        standard: token.kind === 'erc1155' ? 'erc1155' : 'erc721',
        decimals: null,
      });
  });

  test.each([
    ['empty texts', { name: null, symbol: null, decimals: 18, standard: 'erc20', answered: true }],
    ['reverts', { name: null, symbol: null, decimals: null, standard: null, answered: false }],
    ['answers nothing', { name: null, symbol: null, decimals: null, standard: null, answered: false }],
    [
      'huge text',
      { name: 'A'.repeat(256), symbol: 'B'.repeat(64), decimals: 18, standard: 'erc20', answered: true },
    ],
    [
      'control characters',
      { name: 'Tab Line BellEscape[31m', symbol: 'LTR', decimals: 18, standard: 'erc20', answered: true },
    ],
    ['NUL characters', { name: 'NulToken', symbol: 'NUL', decimals: 18, standard: 'erc20', answered: true }],
    [
      'decimals beyond 255',
      { name: 'Many Decimals', symbol: 'MANY', decimals: null, standard: 'erc20', answered: true },
    ],
    ['offset beyond the data', { symbol: null, decimals: 18, standard: 'erc20', answered: true }],
  ])('of a hostile contract are clean: %s', (trait, expected) => {
    expect(metadataOf(trait)).toMatchObject(expected);
  });

  test('of an address without code are nothing', () => {
    expect(metadata.get(NOBODY)).toEqual({
      name: null,
      symbol: null,
      decimals: null,
      standard: null,
      answered: false,
    });
  });
});

test('one burnt multicall does not take the metadata of tokens behind it', async () => {
  // As with an INVALID opcode in one contract: every call after it in the same transaction fails for lack of gas.
  const burnt = failedAggregate(scripted.tokens.length * 5);
  const node = await serveScriptedChain(scripted, {
    methods: (_view, own) => {
      const call = own.get('eth_call');
      if (call === undefined) throw new Error('the node has no eth_call');
      const isMulticall = (transaction: unknown): boolean =>
        JSON.stringify(transaction).includes(MULTICALL3_ADDRESS);
      return new Map([['eth_call', (params) => (isMulticall(params[0]) ? { result: burnt } : call(params))]]);
    },
  });
  const chain = chainWith({ address: MULTICALL3_ADDRESS, blockCreated: 0 });
  const pool = await examplePool(chain, node.url);
  try {
    const metadata = await createTokenMetadataReader({ pool, chain }).read(
      scripted.tokens.map((token) => token.address),
      neverAborted,
    );
    for (const token of scripted.tokens.filter((each) => each.facts !== null && each.kind === 'erc20'))
      expect(metadata.get(token.address)).toMatchObject(token.facts ?? {});
  } finally {
    await pool.close();
    await node.close();
  }
});

/** `aggregate3`'s answer where every call failed: an array of (false, empty). */
function failedAggregate(calls: number): `0x${string}` {
  const word = (value: number): string => value.toString(16).padStart(64, '0');
  const offsets = Array.from({ length: calls }, (_, index) => word(32 * (calls + index * 3)));
  const results = Array.from({ length: calls }, () => word(0) + word(64) + word(0));
  return `0x${word(32)}${word(calls)}${offsets.join('')}${results.join('')}`;
}
