import { readFileSync } from 'node:fs';
import { createChainRegistry } from '@chainstead/chains';
import { parseAddress, parseChainId, ZERO_ADDRESS } from '@chainstead/core';
import { addressOf, recordedData } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { anchorsOf, isQuotedIn0, wrappedNativeOf } from './anchors-of-chain.ts';

const CONTRACT = recordedData('contract');
const eth = createChainRegistry().get('eth');
const gnosis = createChainRegistry().get('gnosis');
const anchors = anchorsOf(eth);
const [USDC, USDT, WETH] = [
  parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'),
  parseAddress('0xdac17f958d2ee523a2206206994597c13d831ec7'),
  parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'),
];
const TOKEN = parseAddress(`0x${'12'.repeat(20)}`);

const NOTHING = { wrappedNative: null, dollarTokens: [], tokenFeeds: [] };

interface ListedToken {
  readonly address: string;
  readonly kind: 'usd' | 'native' | 'eth';
}

test.skipIf(CONTRACT.isMissing)(CONTRACT.title('anchors are those of the shared list'), () => {
  const listed: { readonly quote_tokens: Readonly<Record<string, readonly ListedToken[]>> } = JSON.parse(
    readFileSync(`${CONTRACT.folder}/dexes.json`, 'utf8'),
  );
  for (const [chainId, tokens] of Object.entries(listed.quote_tokens)) {
    const of = (kind: ListedToken['kind']) =>
      tokens.filter((token) => token.kind === kind).map(({ address }) => address);
    expect(anchorsOf({ id: parseChainId(Number(chainId)), ...NOTHING })).toEqual({
      dollar: of('usd'),
      native: [ZERO_ADDRESS, ...of('native')],
      ether: of('eth'),
      other: [],
    });
  }
});

describe('the quote token', () => {
  test('is a dollar token before the native one, and the native one before others', () => {
    expect(isQuotedIn0(USDC, WETH, anchors)).toBe(true);
    expect(isQuotedIn0(WETH, USDC, anchors)).toBe(false);
    expect(isQuotedIn0(WETH, TOKEN, anchors)).toBe(true);
    expect(isQuotedIn0(TOKEN, WETH, anchors)).toBe(false);
  });

  test('is the native token before ether of another chain', () => {
    const [ether] = anchorsOf(gnosis).ether;
    expect(ether).toBeDefined();
    expect(isQuotedIn0(ZERO_ADDRESS, ether ?? TOKEN, anchorsOf(gnosis))).toBe(true);
    expect(isQuotedIn0(ether ?? TOKEN, TOKEN, anchorsOf(gnosis))).toBe(true);
  });

  test('is token 1 of two dollar tokens, and of two tokens that are no anchors', () => {
    expect(isQuotedIn0(USDC, USDT, anchors)).toBe(false);
    expect(isQuotedIn0(USDT, USDC, anchors)).toBe(false);
    expect(isQuotedIn0(TOKEN, parseAddress(`0x${'34'.repeat(20)}`), anchors)).toBe(false);
  });
});

test('a chain without known tokens has its configured wrapped native token', () => {
  const id = parseChainId(424_242);
  expect(anchorsOf({ ...NOTHING, id, wrappedNative: TOKEN })).toEqual({
    ...{ dollar: [], native: [ZERO_ADDRESS, TOKEN], ether: [], other: [] },
  });
  expect(wrappedNativeOf({ id, wrappedNative: null })).toBeNull();
});

test('configured dollar tokens and tokens with a feed are anchors', () => {
  const [id, dollar, gold] = [parseChainId(424_242), addressOf(1), addressOf(2)];
  const feed = { proxy: addressOf(9), decimals: 8, aggregators: [], tokens: [ZERO_ADDRESS, dollar, gold] };
  expect(anchorsOf({ ...NOTHING, id, dollarTokens: [dollar], tokenFeeds: [feed] })).toEqual({
    ...{ dollar: [dollar], native: [ZERO_ADDRESS], ether: [], other: [gold] },
  });
  const [bitcoin] = anchors.other;
  expect(anchors.other).toEqual(['0x2260fac5e5542a773aa44fbcfedf7c193bc2c599']);
  expect(isQuotedIn0(bitcoin ?? TOKEN, TOKEN, anchors)).toBe(true);
  expect(isQuotedIn0(bitcoin ?? TOKEN, WETH, anchors)).toBe(false);
});
