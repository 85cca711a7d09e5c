import { type Address, parseAddress, ZERO_ADDRESS } from '@chainstead/core';

export interface PriceFeed {
  readonly proxy: Address;
  readonly decimals: number;
  /** A seed: aggregators rotate, and a worker asks the proxy for all. */
  readonly aggregators: readonly Address[];
  /** An older price is unknown. @default {@link DEFAULT_HEARTBEAT_SECONDS} */
  readonly heartbeatSeconds?: number | undefined;
}

export interface TokenFeed extends PriceFeed {
  /** The zero address: the native token, plain and wrapped. */
  readonly tokens: readonly Address[];
}

/** 25 hours: a daily heartbeat, and some delay. */
export const DEFAULT_HEARTBEAT_SECONDS = 90_000;

/** Ether's first. Each proxy once. */
export function feedsOf(chain: {
  readonly etherPrice: { readonly feed: PriceFeed | null };
  readonly tokenFeeds: readonly TokenFeed[];
}): readonly PriceFeed[] {
  const { feed } = chain.etherPrice;
  const feeds = [...(feed === null ? [] : [feed]), ...chain.tokenFeeds];
  return feeds.filter(({ proxy }, index) => feeds.findIndex((other) => other.proxy === proxy) === index);
}

export function tokenFeeds(chainId: number): readonly TokenFeed[] {
  return FEEDS[chainId] ?? [];
}

/** Configured feeds replace a token's known one. Those with the same proxy are joined. */
export function mergeTokenFeeds(
  known: readonly TokenFeed[],
  configured: readonly TokenFeed[],
): readonly TokenFeed[] {
  const replaced = new Set(configured.flatMap(({ tokens }) => tokens));
  const rest = known.map((feed) => ({ ...feed, tokens: feed.tokens.filter((token) => !replaced.has(token)) }));
  const byProxy = new Map<Address, TokenFeed>();
  for (const feed of [...configured, ...rest]) {
    if (feed.tokens.length === 0) continue;
    const same = byProxy.get(feed.proxy);
    byProxy.set(feed.proxy, same === undefined ? feed : { ...same, tokens: [...same.tokens, ...feed.tokens] });
  }
  return [...byProxy.values()];
}

/** Every USD feed has eight decimals. Bridged dollars share the original's feed. */
const feed = (tokens: readonly string[], proxy: string, ...aggregators: string[]): TokenFeed => ({
  tokens: tokens.map(parseAddress),
  proxy: parseAddress(proxy),
  decimals: 8,
  aggregators: aggregators.map(parseAddress),
});

const NATIVE = [ZERO_ADDRESS];

const FEEDS: Readonly<Record<number, readonly TokenFeed[]>> = {
  1: [
    feed(
      ['0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'],
      '0x8fffffd4afb6115b954bd326cbe7b4ba576818f6',
      '0xc9e1a09622afdb659913fefe800feae5dbbfe9d7',
    ),
    feed(['0xdac17f958d2ee523a2206206994597c13d831ec7'], '0x3e7d1eab13ad0104d2750b8863b489d65364e32d'),
    feed(['0x6b175474e89094c44da98b954eedeac495271d0f'], '0xaed0c38402a5d19df6e4c03f4e2dced6e29c1ee9'),
    feed(['0x2260fac5e5542a773aa44fbcfedf7c193bc2c599'], '0xf4030086522a5beea4988f8ca5b36dbc97bee88c'),
  ],
  10: [
    feed(
      ['0x0b2c639c533813f4aa9d7837caf62653d097ff85', '0x7f5c764cbc14f9669b88837ca1490cca17c31607'],
      '0x16a9fa2fda030272ce99b29cf780dfa30361e0f3',
      '0xd1cb03cc31caa72d34dba7ebe21897d9580c4af0',
    ),
    feed(['0x94b008aa00579c1307b0ef2c499ad98a8ce58e58'], '0xecef79e109e997bca29c1c0897ec9d7b03647f5e'),
    feed(['0xda10009cbd5d07dd0cecc66161fc93d7c9000da1'], '0x8dba75e83da73cc766a7e5a0ee71f656bab470d6'),
    feed(['0x68f180fcce6836688e9084f035309e29bf0a2095'], '0xd702dd976fb76fffc2d3963d037dfdae5b04e593'),
  ],
  56: [
    feed(NATIVE, '0x0567f2323251f0aab15c8dfb1967e4e8a7d42aee', '0xa6e8fee84f9bd528ad71917c9ddbb1fd3214f280'),
    feed(
      ['0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d'],
      '0x51597f405303c4377e36123cbc172b13269ea163',
      '0x40821334dbd9838df7946122c474e06b40ed67e5',
    ),
    feed(['0x55d398326f99059ff775485246999027b3197955'], '0xb97ad0e74fa7d920791e90258a6e2085088b4320'),
  ],
  100: [
    feed(NATIVE, '0x678df3415fc31947da4324ec63212874be5a82f8', '0xb65566283cace6b281308308da0f0783a613c416'),
    feed(
      ['0xddafbb505ad214d7b80b1f830fccc89b60fb7a83', '0x2a22f9c3b484c3629090feed35f17ff8f88f76f0'],
      '0x26c31ac71010af62e6b486d1132e266d6298857d',
      '0x30ba871ee7a08dbd255cdd8e7e035dad72014e27',
    ),
  ],
  137: [
    feed(NATIVE, '0xab594600376ec9fd91f8e885dadf0ce036862de0', '0x15cc6dba96cd9482c3fd565d2d3ddfb595f71e67'),
    feed(
      ['0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', '0x2791bca1f2de4661ed88a30c99a7a9449aa84174'],
      '0xfe4a8cc5b5b2366c1b58bea3858e81843581b2f7',
      '0xcc741360ba810cd879b05ba8b5a462fb6311fbbe',
    ),
    feed(['0xc2132d05d31c914a87c6611c10748aeb04b58e8f'], '0x0a6513e40db6eb1b165753ad52e80663aea50545'),
    feed(['0x8f3cf7ad23cd3cadbd9735aff958023239c6a063'], '0x4746dec9e833a82ec7c2c1356372ccf2cfcd2f3d'),
    feed(['0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6'], '0xc907e116054ad103354f2d350fd2514433d57f6f'),
  ],
  8453: [
    feed(
      ['0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', '0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca'],
      '0x7e860098f58bbfc8648a4311b374b1d669a2bc6b',
      '0x0ee7145e1370653533e2f2e824424be2aa95a4aa',
    ),
  ],
  42161: [
    feed(
      ['0xaf88d065e77c8cc2239327c5edb3a432268e5831', '0xff970a61a04b1ca14834a43f5de4533ebddb5cc8'],
      '0x50834f3163758fcc1df9973b6e91f0f0f0434ad3',
      '0x2946220288dbbf77df0030fcecc2a8348cbbe32c',
    ),
    feed(['0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9'], '0x3f3f5df88dc9f13eac63df89ec16ef6e7e25dde7'),
    feed(['0xda10009cbd5d07dd0cecc66161fc93d7c9000da1'], '0xc5c8e77b397e531b8ec06bfb0048328b30e9ecfb'),
    feed(['0x2f2a2543b76a4166549f7aab2e75bef0aefc5b0f'], '0x6ce185860a4963106506c203335a2910413708e9'),
  ],
  43114: [
    feed(NATIVE, '0x0a77230d17318075983913bc2145db16c7366156', '0xcfbfe648ba88bf7d9776d970417a0b26c315feb4'),
    feed(
      ['0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e', '0xa7d7079b0fead91f3e65f86e8915cb59c1a4c664'],
      '0xf096872672f44d6eba71458d74fe67f9a77a23b9',
      '0x65527d2556fffee7e545c5ee5b81f5dae925ce00',
    ),
    feed(
      ['0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7', '0xc7198437980c041c805a1edcba50c1ce5db95118'],
      '0xebe676ee90fe1112671f19b6b7459bc678b67e8a',
    ),
    feed(['0xd586e7f844cea2f87f50152665bcbc2c279d8d70'], '0x51d7180eda2260cc4f6e4eebb82fef5c3c2b8300'),
  ],
  59144: [
    feed(
      ['0x176211869ca2b568f2a7d4ee941e073a821ee1ff'],
      '0xaadaa473c1bdf7317ec07c915680af29debfdcb5',
      '0xa6f72813b20758f08923b48926df1ba54782f9ff',
    ),
  ],
};
