/** Prices of a devnet's tokens at fixed blocks, while the program indexes ranges of its blocks in random order. */

import { type Address, parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import {
  createSeededRandom,
  deployExchanges,
  type ExchangeDevnet,
  type ExchangePool,
  type Program,
  type SeededRandom,
  startProgram,
} from '@chainstead/testkit';
import { expect } from 'vitest';
import { type DevnetProgramStage, openDevnetProgramStage } from './devnet-program.ts';
import { waitUntil } from './indexed-chain.ts';

const KEY = 'acceptance-key-0123456789';
const UNIT = 10n ** 18n;
const DOLLAR = 10n ** 6n;
/** A window of 30 minutes has 30 blocks. */
const BLOCK_SECONDS = 60;
/** More than a reorg may reach: the ranges must be settled. */
const ABOVE = 70;

/** A price that is requested: a token and a block. */
interface Place {
  readonly token: Address;
  readonly block: number;
}

/** A response. Null: there is no price yet. */
interface Served {
  readonly at: number;
  readonly usd: string | null;
  /** Whether it is reported as final, or only a final one was requested. */
  readonly isFinal: boolean;
}

export interface PriceRun {
  /** Number of final prices before everything was indexed. */
  readonly early: number;
  /** Number of responses without one. */
  readonly unknown: number;
  /** Number of places that have a price in the end. */
  readonly priced: number;
}

/**
 * Requests prices at places in random order: before, during and after the backfill of ranges. A price that is reported as final must be the one
 * of the whole chain. So must each response to a request for final prices.
 * @param count number of places
 */
export async function expectFinalPrices(chainId: number, count: number, swaps: number): Promise<PriceRun> {
  await using parts = new AsyncDisposableStack();
  const stage = parts.use(await openDevnetProgramStage(chainId));
  const random = createSeededRandom(`prices/${chainId}`);
  const market = await tradeOnDevnet(stage, random, swaps);
  const { settings, program } = await startAbove(stage, market);
  const url = await program.url;
  await learnTokens(stage, market, url);
  const places = Array.from({ length: count }, () => ({
    token: random.pick(market.tokens),
    block: random.integer(market.first + 5, market.last),
  }));
  const served: Served[] = [];
  const ask = async (at: number, wantsFinal = random.integer(0, 1) === 1): Promise<Served> => {
    const place = places[at];
    if (place === undefined) throw new RangeError(`There is no place ${at}`);
    const found = { at, ...(await readPrice(url, place, wantsFinal, program)) };
    served.push(found);
    return found;
  };
  const askSome = async (share: number): Promise<void> => {
    for (let asked = 0; asked < count * share; asked += 1) await ask(random.integer(0, count - 1));
  };

  await askSome(0.3);
  for (const [from, to] of shuffled(random, rangesOf(market))) {
    const backfill = parts.use(startBackfill(settings, from, to));
    let isRunning = true;
    const ended = backfill.exited.then((code) => {
      isRunning = false;
      return code;
    });
    while (isRunning) await ask(random.integer(0, count - 1));
    expect([from, to, await ended, backfill.output()]).toEqual([from, to, 0, expect.any(String)]);
    await askSome(0.2);
  }
  const early = served.length;
  const finals = new Map<number, string | null>();
  for (const at of places.keys()) finals.set(at, await finalOf(() => ask(at, false)));
  for (const { at, usd, isFinal } of served) {
    const final = finals.get(at) ?? null;
    if (usd !== null && isFinal) expect({ ...places[at], usd }).toEqual({ ...places[at], usd: final });
  }
  const before = served.slice(0, early);
  return {
    early: before.filter(({ usd, isFinal }) => usd !== null && isFinal).length,
    unknown: before.filter(({ usd }) => usd === null).length,
    priced: [...finals.values()].filter((usd) => usd !== null).length,
  };
}

/** The final figure, once balances of the pools are read. */
async function finalOf(ask: () => Promise<Served>): Promise<string | null> {
  let last: Served | undefined;
  await waitUntil(async () => {
    last = await ask();
    return last.usd === null || last.isFinal ? null : JSON.stringify(last);
  });
  return last?.usd ?? null;
}

interface TradedMarket {
  readonly exchanges: ExchangeDevnet;
  readonly tokens: readonly Address[];
  readonly pools: readonly ExchangePool[];
  readonly usd: Address;
  /** First and last block of the trades. */
  readonly first: number;
  readonly last: number;
}

/** Pools of four exchanges against a dollar and one of two other tokens, and swaps in them, a minute apart. */
async function tradeOnDevnet(
  { devnet }: DevnetProgramStage,
  random: SeededRandom,
  swaps: number,
): Promise<TradedMarket> {
  const exchanges = await deployExchanges(devnet, { hasForks: true });
  const usd = await exchanges.deployToken('USD', 6);
  const [cats, dogs] = [await exchanges.deployToken('CATS'), await exchanges.deployToken('DOGS')];
  const [birds, fish] = [await exchanges.deployToken('BIRDS'), await exchanges.deployToken('FISH')];
  const head = async () => Number((await devnet.client.getBlock()).number);
  const first = (await head()) + 1;
  const price = [10n ** 12n, 4n] as const;
  const pools: ExchangePool[] = [
    await exchanges.createPool({ version: 'v2', tokens: [cats, usd] }),
    await exchanges.createPool({ version: 'v3', tokens: [cats, usd], fee: 500, price }),
    await exchanges.createPool({ version: 'v3-pancake', tokens: [dogs, usd], fee: 2_500, price }),
    await exchanges.createPool({ version: 'algebra-integral', tokens: [dogs, usd], price }),
    await exchanges.createPool({ version: 'v2', tokens: [birds, usd] }),
    // Fish are priced through birds.
    await exchanges.createPool({ version: 'v2', tokens: [birds, fish] }),
  ];
  await devnet.client.setBlockTimestampInterval({ interval: BLOCK_SECONDS });
  for (const pool of pools) {
    const [amount, dollars] = [
      BigInt(random.integer(800, 3_000)) * UNIT,
      BigInt(random.integer(4_000, 9_000)) * DOLLAR,
    ];
    const amounts = pool.tokens.map((token) => (token === usd ? dollars : amount));
    await exchanges.addLiquidity(pool, [amounts[0] ?? amount, amounts[1] ?? amount]);
  }
  for (let done = 0; done < swaps; done += 1) {
    const pool = random.pick(pools);
    const token = random.pick(pool.tokens);
    const amount = BigInt(random.integer(1, 120)) * (token === usd ? DOLLAR : UNIT / 4n);
    await exchanges.swap(pool, { token, amount });
  }
  return { exchanges, tokens: [cats, dogs, birds, fish], pools, usd, first, last: await head() };
}

/** Starts the program above all trades. */
async function startAbove(stage: DevnetProgramStage, { exchanges, usd, last }: TradedMarket) {
  const { devnet, scratch } = stage;
  await devnet.mine(ABOVE);
  const settings = {
    START_BLOCK_DEVNET: String(last + ABOVE),
    DOLLAR_TOKENS_DEVNET: usd,
    // The pools are seconds old.
    ...{ PRICE_HOP_MIN_USD: '1000', PRICE_HOLD_SECONDS: '0' },
    // A request returns after the balances of pools are read, also on a busy machine.
    ON_DEMAND_WAIT_MS: '20000',
    EXCHANGES_DEVNET: Object.entries(exchanges.factories)
      .map(([family, { address }]) => `${family}:${parseAddress(address)}`)
      .join(),
  };
  const program = stage.start(KEY, settings);
  await waitUntil(async () => {
    const [row] = await scratch.database.query<{ checkpoint: number | null }>(
      sql`SELECT checkpoint FROM sync_chains`,
    );
    return row?.checkpoint === last + ABOVE ? null : JSON.stringify(row);
  });
  const environment = {
    ...settings,
    DATABASE_URL: scratch.url,
    CHAINS: 'devnet',
    CHAIN_ID_DEVNET: String(devnet.chainId),
    RPC_URLS_DEVNET: devnet.url,
  };
  return { program, settings: environment };
}

/** Moves the tokens of each pool between two reads of its balances. So their transfers are known to determine balances. */
async function learnTokens(
  { scratch, devnet }: DevnetProgramStage,
  { exchanges, tokens, pools, usd }: TradedMarket,
  url: string,
): Promise<void> {
  const request = async (): Promise<void> => {
    for (const token of tokens) await fetchPrice(url, `${token}/price?chain=devnet`);
  };
  await request();
  for (const pool of pools) {
    const [token] = pool.tokens;
    await exchanges.swap(pool, { token, amount: token === usd ? DOLLAR : UNIT });
  }
  const head = Number((await devnet.client.getBlock()).number);
  await waitUntil(async () => {
    const [chain] = await scratch.database.query<{ checkpoint: number }>(sql`SELECT checkpoint FROM sync_chains`);
    if (chain?.checkpoint !== head) return JSON.stringify(chain);
    await request();
    const classes = await scratch.database.query<{ token: string; class: string }>(
      sql`SELECT '0x' || encode(token, 'hex') AS token, class FROM erc20_token_classes WHERE class = 'sum'`,
    );
    const known = classes.map(({ token }) => token);
    return [...tokens.slice(0, 2), usd].every((token) => known.includes(token)) ? null : JSON.stringify(classes);
  });
}

function startBackfill(environment: Readonly<Record<string, string>>, from: number, to: number): Program {
  return startProgram(['backfill', '--chain', 'devnet', '--from', String(from), '--to', String(to)], {
    environment,
  });
}

/** Five ranges that make up all blocks of the trades. */
function rangesOf({ first, last }: TradedMarket): readonly (readonly [from: number, to: number])[] {
  const width = Math.ceil((last - first + 1) / 5);
  return Array.from({ length: 5 }, (_, place) => {
    const from = place === 0 ? 0 : first + place * width;
    // The balances of pools are read at the newest block: transfers up to there must be indexed.
    return [from, place === 4 ? last + ABOVE - 1 : first + (place + 1) * width - 1] as const;
  });
}

function shuffled<T>(random: SeededRandom, items: readonly T[]): readonly T[] {
  return items
    .map((item) => [random.next(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
}

async function readPrice(
  url: string,
  { token, block }: Place,
  wantsFinal: boolean,
  program: Program,
): Promise<Omit<Served, 'at'>> {
  const query = `chain=devnet&to_block=${block}&explain=true&final=${wantsFinal}`;
  const response = await fetchPrice(url, `${token}/price?${query}`);
  const body = (await response.json()) as PriceBody;
  if (response.status !== 200) {
    expect([response.status, body], program.output()).toEqual([404, { message: expect.any(String) }]);
    return { usd: null, isFinal: false };
  }
  const { price_numerator: numerator, price_denominator: denominator } = body.explanation ?? {};
  return { usd: `${numerator}/${denominator}`, isFinal: wantsFinal || body.indexed?.complete === true };
}

function fetchPrice(url: string, path: string): Promise<Response> {
  return fetch(`${url}/api/v2.2/erc20/${path}`, { headers: { 'x-api-key': KEY } });
}

interface PriceBody {
  readonly indexed?: { readonly complete: boolean };
  readonly explanation?: { readonly price_numerator: string; readonly price_denominator: string };
}
