import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { DEMO_TOKEN_ABI } from './devnet/compile-solidity.ts';
import type { Devnet } from './devnet/devnet.ts';
import { deployExchanges } from './exchanges/exchange-devnet.ts';
import type { ExchangePool } from './exchanges/exchange-pool.ts';

/** Uniswap v2, v3 and v4 with a pool each, and a fake pair at a thousand times their price. */
export interface DemoExchanges {
  readonly setting: string;
  readonly pools: readonly ExchangePool[];
  readonly fakePair: Address;
  /** Each buys ether in one round and sells it in the next. No wallets of the demo. */
  readonly traders: readonly Address[];
  readonly gainer: Address;
  trade(round: number): Promise<void>;
}

interface TradedTokens {
  readonly dollar: Address;
  readonly ether: Address;
  readonly price: bigint;
}

const DOLLAR_UNIT = 10n ** 6n;
const ETHER_UNIT = 10n ** 18n;
const DEPTH = 100n;
const HOLDING = 100n * DEPTH;
const FAKE_FACTOR = 1_000n;
const ROUNDS_BETWEEN_FAKES = 4;
const GAINER_DOLLARS = 2_500n;
const RAISING_DOLLARS = 10_000n;

export async function deployDemoExchanges(
  devnet: Devnet,
  { dollar, ether, price }: TradedTokens,
): Promise<DemoExchanges> {
  const exchanges = await deployExchanges(devnet);
  const traders = devnet.accounts.slice(5, 7);
  const [gainer = ZERO_ADDRESS] = devnet.accounts.slice(7, 8);
  const tokens = [
    [dollar, price * DOLLAR_UNIT],
    [ether, ETHER_UNIT],
  ] as const;
  for (const [address, worth] of tokens) {
    const mint = { address, abi: DEMO_TOKEN_ABI, functionName: 'mint' };
    for (const trader of traders) await devnet.send({ ...mint, args: [trader, HOLDING * worth] });
    await exchanges.approve(address, [...traders, gainer]);
  }
  const pools: ExchangePool[] = [];
  for (const version of ['v2', 'v3', 'v4'] as const) {
    const prices = [price * DOLLAR_UNIT, ETHER_UNIT] as const;
    const pool = await exchanges.createPool({ version, tokens: [dollar, ether], price: prices });
    const [dollars, ethers] = [DEPTH * price * DOLLAR_UNIT, DEPTH * ETHER_UNIT];
    await exchanges.addLiquidity(
      pool,
      pool.tokens[0] === dollar ? [dollars, ethers] : [ethers, dollars],
      traders[0],
    );
    pools.push(pool);
  }
  const [pair] = pools;
  if (pair === undefined) throw new RangeError('The demo has a pool for its gainer');
  await devnet.send({
    ...{ address: dollar, abi: DEMO_TOKEN_ABI, functionName: 'mint' },
    args: [gainer, GAINER_DOLLARS * DOLLAR_UNIT],
  });
  await exchanges.swap(pair, { token: dollar, amount: GAINER_DOLLARS * DOLLAR_UNIT }, gainer);
  await exchanges.swap(pair, { token: dollar, amount: RAISING_DOLLARS * DOLLAR_UNIT }, traders[0]);
  const bought = await devnet.client.readContract({
    ...{ address: ether, abi: DEMO_TOKEN_ABI, functionName: 'balanceOf', args: [gainer] },
  });
  await exchanges.swap(pair, { token: ether, amount: bought }, gainer);
  const fake = await exchanges.deployFakePair([dollar, ether]);
  const fakeDollars = FAKE_FACTOR * price * DOLLAR_UNIT;
  const fakeAmounts = dollar < ether ? [fakeDollars, ETHER_UNIT] : [ETHER_UNIT, fakeDollars];
  const { v2, v3, v4 } = exchanges.factories;
  return {
    setting: `v2:${v2.address},v3:${v3.address},v4:${v4.address}`,
    fakePair: fake.address,
    pools,
    traders,
    gainer,
    async trade(round) {
      const [token, worth] = round % 2 === 0 ? [dollar, price * DOLLAR_UNIT] : [ether, ETHER_UNIT];
      const sold = { token, amount: (worth * BigInt(1 + (round % 5))) / 10n };
      for (const pool of pools) await exchanges.swap(pool, sold, traders[Math.floor(round / 2) % traders.length]);
      if (round % ROUNDS_BETWEEN_FAKES === 0)
        await devnet.send({ ...fake, functionName: 'trade', args: fakeAmounts });
    },
  };
}
