import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import type { NativeToken, TokenFacts } from '@chainstead/tokens/token-book';

/** Tokens priced without pools, the most preferred quote token first. */
export const ANCHOR_KINDS = ['dollar', 'native', 'ether', 'other'] as const;
export type AnchorKind = (typeof ANCHOR_KINDS)[number];

/** The native token (Uniswap v4: the zero address) counts as its wrapped one. */
export type Anchors = Readonly<Record<AnchorKind, readonly Address[]>>;
type AnchoredChain = Pick<Chain, 'id' | 'wrappedNative' | 'dollarTokens' | 'tokenFeeds'>;

export function anchorsOf({ id, wrappedNative, dollarTokens, tokenFeeds }: AnchoredChain): Anchors {
  const known = KNOWN.get(id);
  const wrapped = wrappedNative ?? known?.wrapped ?? null;
  const dollar = [...new Set([...(known?.dollar ?? []), ...dollarTokens])];
  const native = wrapped === null ? [ZERO_ADDRESS] : [ZERO_ADDRESS, wrapped];
  const ether = known?.ether ?? [];
  const others = new Set([...dollar, ...native, ...ether]);
  const withFeed = tokenFeeds.flatMap(({ tokens }) => tokens);
  return { dollar, native, ether, other: withFeed.filter((token) => !others.has(token)) };
}

export function wrappedNativeOf({ id, wrappedNative }: Pick<Chain, 'id' | 'wrappedNative'>): Address | null {
  return wrappedNative ?? KNOWN.get(id)?.wrapped ?? null;
}

/** The wrapped native token for the native one, so that each token is a contract. */
export function shownToken(token: Address, chain: Pick<Chain, 'id' | 'wrappedNative'>): Address {
  return token === ZERO_ADDRESS ? (wrappedNativeOf(chain) ?? token) : token;
}

export function nativeTokenOf(chain: Pick<Chain, 'id' | 'wrappedNative' | 'native'>): NativeToken {
  return { ...chain.native, address: shownToken(ZERO_ADDRESS, chain) };
}

export function knownDecimals({ id, native }: Pick<Chain, 'id' | 'native'>, token: Address): number | null {
  if (token === ZERO_ADDRESS) return native.decimals;
  const known = KNOWN.get(id);
  if (known === undefined) return null;
  if (token === known.wrapped || known.ether.includes(token)) return ETHER_DECIMALS;
  if (!known.dollar.includes(token)) return null;
  return known.dollar18.includes(token) ? ETHER_DECIMALS : DOLLAR_DECIMALS;
}

const ETHER_DECIMALS = 18;
const DOLLAR_DECIMALS = 6;

/** The more preferred anchor is the quote token; of two equal ones, token 1. */
export function isQuotedIn0(token0: Address, token1: Address, anchors: Anchors): boolean {
  return rankOf(token0, anchors) < rankOf(token1, anchors);
}

/** `BASE/QUOTE`; null if a symbol is unknown. */
export function pairLabel(base: TokenFacts | null, quote: TokenFacts | null): string | null {
  const [left, right] = [base?.symbol ?? null, quote?.symbol ?? null];
  return left === null || right === null ? null : `${left}/${right}`;
}

function rankOf(token: Address, anchors: Anchors): number {
  const rank = ANCHOR_KINDS.findIndex((kind) => anchors[kind].includes(token));
  return rank === -1 ? ANCHOR_KINDS.length : rank;
}

/** Dollar tokens have 6 decimals, `dollar18` has 18. Ether: on chains with another native token. */
const TOKENS: readonly (readonly [chainId: number, kind: 'wrapped' | 'dollar' | 'dollar18' | 'ether', string])[] =
  [
    [1, 'wrapped', '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'],
    [1, 'dollar', '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'],
    [1, 'dollar', '0xdac17f958d2ee523a2206206994597c13d831ec7'],
    [1, 'dollar18', '0x6b175474e89094c44da98b954eedeac495271d0f'],
    [10, 'wrapped', '0x4200000000000000000000000000000000000006'],
    [10, 'dollar', '0x0b2c639c533813f4aa9d7837caf62653d097ff85'],
    [10, 'dollar', '0x7f5c764cbc14f9669b88837ca1490cca17c31607'],
    [10, 'dollar', '0x94b008aa00579c1307b0ef2c499ad98a8ce58e58'],
    [10, 'dollar18', '0xda10009cbd5d07dd0cecc66161fc93d7c9000da1'],
    [25, 'wrapped', '0x5c7f8a570d578ed84e63fdfa7b1ee72deae1ae23'],
    [25, 'dollar', '0xc21223249ca28397b4b6541dffaecc539bff0c59'],
    [25, 'dollar', '0x66e428c3f67a68878562e79a0234c1f83c208770'],
    [25, 'dollar18', '0xf2001b145b43032aaf5ee2884e456ccd805f677d'],
    [56, 'wrapped', '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c'],
    [56, 'dollar18', '0x55d398326f99059ff775485246999027b3197955'],
    [56, 'dollar18', '0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d'],
    [56, 'dollar18', '0xe9e7cea3dedca5984780bafc599bd69add087d56'],
    [100, 'wrapped', '0xe91d153e0b41518a2ce8dd3d7944fa863463a97d'],
    [100, 'dollar', '0xddafbb505ad214d7b80b1f830fccc89b60fb7a83'],
    [100, 'dollar', '0x2a22f9c3b484c3629090feed35f17ff8f88f76f0'],
    [100, 'dollar', '0x4ecaba5870353805a9f068101a40e0f32ed605c6'],
    [100, 'ether', '0x6a023ccd1ff6f2045c3309768ead9e68f978f6e1'],
    [137, 'wrapped', '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270'],
    [137, 'dollar', '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'],
    [137, 'dollar', '0x2791bca1f2de4661ed88a30c99a7a9449aa84174'],
    [137, 'dollar', '0xc2132d05d31c914a87c6611c10748aeb04b58e8f'],
    [137, 'dollar18', '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063'],
    [137, 'ether', '0x7ceb23fd6bc0add59e62ac25578270cff1b9f619'],
    [143, 'wrapped', '0x3bd359c1119da7da1d913d1c4d2b7c461115433a'],
    [143, 'dollar', '0x754704bc059f8c67012fed69bc8a327a5aafb603'],
    [143, 'dollar', '0x00000000efe302beaa2b3e6e1b18d08d69a9012a'],
    [250, 'wrapped', '0x21be370d5312f44cb42ce377bc9b8a0cef1a4c83'],
    [250, 'dollar', '0x04068da6c83afcfa0e13ba15a6696662335d5b75'],
    [250, 'dollar', '0x049d68029688eabf473097a2fc38ef61633a3c7a'],
    [250, 'dollar18', '0x8d11ec38a3eb5e956b052f67da8bdc9bef8abf3e'],
    [250, 'dollar', '0x28a92dde19d9989f39a49905d7c9c2fac7799bdf'],
    [369, 'wrapped', '0xa1077a294dde1b09bb078844df40758a5d0f9a27'],
    [369, 'dollar18', '0xefd766ccb38eaf1dfd701853bfce31359239f305'],
    [369, 'dollar', '0x15d38573d2feeb82e7ad5187ab8c1d52810b1f07'],
    [369, 'dollar', '0x0cb6f5a34ad42ec934882a05265a7d5f59b51a2f'],
    [369, 'ether', '0x02dcdd04e3f455d838cd1249292c58f3b79e3c3c'],
    [1284, 'wrapped', '0xacc15dc74880c9944775448304b263d191c6077f'],
    [1284, 'dollar', '0xffffffffea09fb06d082fd1275cd48b191cbcd1d'],
    [1284, 'dollar', '0x931715fee2d06333043d11f658c8ce934ac61d0c'],
    [2020, 'wrapped', '0xe514d9deb7966c8be0ca922de8a064264ea6bcd4'],
    [2020, 'dollar', '0x0b7007c13325c48911f73a2dad5fa5dcbf808adc'],
    [2020, 'ether', '0xc99a6a985ed2cac1ef41640596c5a5f9f4e19ef5'],
    [8453, 'wrapped', '0x4200000000000000000000000000000000000006'],
    [8453, 'dollar', '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'],
    [8453, 'dollar', '0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca'],
    [8453, 'dollar18', '0x50c5725949a6f0c72e6c4a641f24049a917db0cb'],
    [8453, 'dollar', '0xfde4c96c8593536e31f229ea8f37b2ada2699bb2'],
    [42_161, 'wrapped', '0x82af49447d8a07e3bd95bd0d56f35241523fbab1'],
    [42_161, 'dollar', '0xaf88d065e77c8cc2239327c5edb3a432268e5831'],
    [42_161, 'dollar', '0xff970a61a04b1ca14834a43f5de4533ebddb5cc8'],
    [42_161, 'dollar', '0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9'],
    [42_161, 'dollar18', '0xda10009cbd5d07dd0cecc66161fc93d7c9000da1'],
    [43_114, 'wrapped', '0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7'],
    [43_114, 'dollar', '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e'],
    [43_114, 'dollar', '0xa7d7079b0fead91f3e65f86e8915cb59c1a4c664'],
    [43_114, 'dollar', '0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7'],
    [43_114, 'dollar', '0xc7198437980c041c805a1edcba50c1ce5db95118'],
    [43_114, 'dollar18', '0xd586e7f844cea2f87f50152665bcbc2c279d8d70'],
    [43_114, 'ether', '0x49d5c2bdffac6ce2bfdb6640f4f80f226bc10bab'],
    [59_144, 'wrapped', '0xe5d7c2a44ffddf6b295a15c148167daaaf5cf34f'],
    [59_144, 'dollar', '0x176211869ca2b568f2a7d4ee941e073a821ee1ff'],
    [59_144, 'dollar', '0xa219439258ca9da29e9cc4ce5596924745e12b93'],
    [59_144, 'dollar18', '0x4af15ec2a0bd43db75dd04e62faa3b8ef36b00d5'],
    [1329, 'wrapped', '0xe30fedd158a2e3b13e9badaeabafc5516e95e8c7'],
    [1329, 'dollar', '0xe15fc38f6d8c56af07bbcbe3baf5708a2bf42392'],
    [1329, 'dollar', '0x3894085ef7ff0f0aedf52e2a2704928d1ec074f1'],
    [1135, 'wrapped', '0x4200000000000000000000000000000000000006'],
    [1135, 'dollar', '0x05d032ac25d322df992303dca074ee7392c117b9'],
    [204, 'wrapped', '0x4200000000000000000000000000000000000006'],
    [204, 'dollar18', '0x9e5aac1ba1a2e6aed6b32689dfcf62a509ca96f3'],
  ];

const KNOWN = new Map(
  [...Map.groupBy(TOKENS, ([chainId]) => chainId)].map(([chainId, tokens]) => {
    const of = (...kinds: readonly string[]) =>
      tokens.filter(([, kind]) => kinds.includes(kind)).map(([, , token]) => parseAddress(token));
    const [wrapped = null] = of('wrapped');
    return [chainId, { wrapped, dollar: of('dollar', 'dollar18'), dollar18: of('dollar18'), ether: of('ether') }];
  }),
);
