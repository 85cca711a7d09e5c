import { type CustomExchange, createChainRegistry, type MarketplaceDeployment } from '@chainstead/chains';
import type { TokenFeed } from '@chainstead/chains/price-feeds';
import { type Address, type Fraction, isAddress, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { DatabaseError } from '@chainstead/db';
import { parseConnectionString } from '@chainstead/db/server';
import { type ConfiguredKey, parseConfiguredKey } from '@chainstead/http/key-store';
import { findExchangeProblem } from '@chainstead/markets/custom-exchanges';
import { binChanges, poolCreations, poolStates, swaps } from '@chainstead/markets/datasets';
import type { Dataset } from '@chainstead/sync/datasets';
import { z } from 'zod';
import { datasets } from '../datasets/registry.ts';
import { ROLE_NAMES, type RoleProcesses } from './role-names.ts';
import { suggestChains } from './suggestion.ts';

const DIGITS = /^\d+$/;
const CIDR_OR_ADDRESS = /^[0-9a-fA-F:.]+(\/\d{1,3})?$/;

export const plainText = z.string().trim().min(1, 'is empty');

export const allowedTexts = z.registry<{ readonly allowed: string }>();

export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): z.ZodType<number, string> {
  const to = max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`;
  return plainText
    .regex(DIGITS, 'is not a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `is not between ${min} and ${max}`)
    .register(allowedTexts, { allowed: `a whole number from ${min}${to}` });
}

export function decimalNumber(min: number, max: number): z.ZodType<number, string> {
  return plainText
    .regex(/^\d+(\.\d+)?$/, 'is not a number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `is not between ${min} and ${max}`)
    .register(allowedTexts, { allowed: `a number from ${min} to ${max}` });
}

export function exactNumber(min: number, max: number): z.ZodType<Fraction, string> {
  return plainText
    .regex(/^\d+(\.\d{1,6})?$/, 'is not a number with up to 6 decimals')
    .refine((text) => Number(text) >= min && Number(text) <= max, `is not between ${min} and ${max}`)
    .transform((text) => {
      const [whole = '', decimals = ''] = text.split('.');
      return { numerator: BigInt(`${whole}${decimals}`), denominator: 10n ** BigInt(decimals.length) };
    })
    .register(allowedTexts, { allowed: `a number from ${min} to ${max}, with up to 6 decimals` });
}

export function oneOf<const Choice extends string>(...choices: readonly Choice[]): z.ZodType<Choice, string> {
  return plainText
    .transform((text) => choices.find((choice) => choice === text.toLowerCase()))
    .refine((choice) => choice !== undefined, 'is not one of them')
    .register(allowedTexts, { allowed: choices.join(' or ') });
}

export function urlOf(...protocols: readonly string[]): z.ZodType<string, string> {
  return plainText
    .refine(
      // `localhost:8545` would have the protocol "localhost:".
      (text) => protocols.some((protocol) => text.toLowerCase().startsWith(`${protocol}//`)),
      { error: `does not start with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`, abort: true },
    )
    .refine((text) => URL.canParse(text), 'is not a URL');
}

export const addressUrl = urlOf('http:', 'https:').refine((text) => text.includes('{address}'), {
  error: 'does not contain {address}',
});

export const postgresUrl: z.ZodType<string, string> = plainText
  .superRefine((text, context) => {
    try {
      parseConnectionString(text);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      const message = `can't be used: ${String(error.facts.problem)}. ${error.remedy ?? ''}`;
      context.addIssue({ code: 'custom', message });
    }
  })
  .register(allowedTexts, { allowed: 'a postgres:// URL with a database name' });

/** Comma list without empty entries: at least one, none twice. */
export function listOf<Item>(item: z.ZodType<Item, string>): z.ZodType<readonly Item[], string> {
  return plainText
    .transform((text) =>
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    )
    .refine((entries) => entries.length > 0, 'is an empty list')
    .refine((entries) => new Set(entries).size === entries.length, 'contains an entry twice')
    .pipe(z.array(item));
}

export const httpUrls = listOf(urlOf('http:', 'https:')).register(allowedTexts, {
  allowed: 'a comma list of http(s) URLs',
});

const PROCESSES_MAX = 64;

/** Such as `api:auto,ingest:2,worker`. */
export const roleList: z.ZodType<readonly RoleProcesses[], string> = listOf(
  plainText.toLowerCase().transform((text, context): RoleProcesses => {
    const [name, count = '1', ...others] = text.split(':');
    const role = ROLE_NAMES.find((known) => known === name);
    const isCount = others.length === 0 && (count === 'auto' || isWithin(count, 1, PROCESSES_MAX));
    if (role !== undefined && isCount) return { role, processes: count === 'auto' ? count : Number(count) };
    context.addIssue({ code: 'custom', message: `contains ${text}, which is neither a role nor role:processes` });
    return z.NEVER;
  }),
).refine(
  (roles) => roles.every(({ role }, index) => roles.findIndex((other) => other.role === role) === index),
  'contains a role twice',
);

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(\d{1,9})(ms|s|m|h|d)$/;

/** Comma list such as `30s,10m,1h`, or `none`. Milliseconds. */
export const durations: z.ZodType<readonly number[], string> = plainText
  .transform((text) =>
    (text === 'none' ? [] : text.split(',')).map((entry) => {
      const [, digits, unit] = DURATION.exec(entry.trim()) ?? [];
      const factor = UNIT_MS[unit ?? ''];
      return digits === undefined || factor === undefined ? null : Number(digits) * factor;
    }),
  )
  .refine((entries) => entries.every((entry) => entry !== null), 'contains a value that is not a duration')
  .transform((entries) => entries.filter((entry) => entry !== null));

const YES = ['true', 'yes', '1'];
const NO = ['false', 'no', '0'];

export const privateNetworks: z.ZodType<boolean | readonly string[], string> = plainText
  .transform((text): boolean | string[] => {
    const answer = text.toLowerCase();
    if (NO.includes(answer)) return false;
    return YES.includes(answer) ? true : text.split(',').map((entry) => entry.trim());
  })
  .refine(
    (value) => typeof value === 'boolean' || value.every((entry) => CIDR_OR_ADDRESS.test(entry)),
    'is neither true, false nor a list of CIDRs',
  );

/** Null: `head` at the first start. */
export const startBlock: z.ZodType<number | null, string> = plainText
  .refine((text) => text.toLowerCase() === 'head' || DIGITS.test(text), 'is neither a block number nor head')
  .transform((text) => (text.toLowerCase() === 'head' ? null : Number(text)))
  .refine((value) => value === null || Number.isSafeInteger(value), 'is too large');

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/** A day, from midnight UTC, or a time with its zone; not in the future. */
export const pastTime: z.ZodType<Date, string> = plainText
  .refine((text) => (DAY.test(text) || MOMENT.test(text)) && isCalendarDay(text.slice(0, 10)), {
    error: 'is neither a date nor a time with a time zone',
    abort: true,
  })
  .transform((text) => new Date(text))
  .refine((time) => Number.isFinite(time.getTime()), { error: 'is not a valid time', abort: true })
  .refine((time) => time.getTime() <= Date.now(), 'is in the future');

/** `Date` parses February 30 as March 2. */
function isCalendarDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return Number.isFinite(day.getTime()) && day.toISOString().startsWith(text);
}

export const chainIdText: z.ZodType<number, string> = plainText
  .regex(/^(\d+|0x[0-9a-fA-F]+)$/, 'is neither a decimal nor a hexadecimal number')
  .transform(Number)
  .refine((value) => Number.isSafeInteger(value) && value > 0, 'is not a positive chain ID');

const CHAIN_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;

export const chainName: z.ZodType<string, string> = plainText
  .toLowerCase()
  .refine((text) => CHAIN_NAME.test(text), {
    error: ({ input }) =>
      `contains ${JSON.stringify(input)}, which is not a chain name. ${suggestChains(String(input), createChainRegistry())}`.trim(),
  });

export const configuredKey: z.ZodType<ConfiguredKey, string> = plainText
  .transform(parseConfiguredKey)
  .refine((key) => key !== null, 'contains a key that is not 8 to 128 of A-Z a-z 0-9 . _ -, or an unknown scope');

export const evmAddress: z.ZodType<Address, string> = plainText
  .refine((text) => isAddress(text), 'is not an address')
  .transform(parseAddress)
  .register(allowedTexts, { allowed: 'an address' });

/** `protocol:address`. */
export const marketplaceDeployment: z.ZodType<MarketplaceDeployment, string> = plainText
  .refine(
    (text) => /^[a-z0-9.-]+:/.test(text) && isAddress(text.slice(text.indexOf(':') + 1)),
    'is not protocol:address',
  )
  .transform((text) => {
    const colon = text.indexOf(':');
    return { protocol: text.slice(0, colon), address: parseAddress(text.slice(colon + 1)) };
  });

export const DATASET_NAMES: readonly string[] = datasets.map(({ name }) => name);

/** All but datasets of exchanges, which take the most calls and space. */
export const LIGHT = 'light';

const OF_EXCHANGES: ReadonlySet<string> = new Set(
  [swaps, poolStates, poolCreations, binChanges].map(({ name }) => name),
);

/** Comma list of names and {@link LIGHT}. Each once. */
export const datasetList: z.ZodType<readonly Dataset[], string> = listOf(
  plainText
    .transform((text) =>
      datasets.filter(({ name }) => (text === LIGHT ? !OF_EXCHANGES.has(name) : name === text)),
    )
    .refine((found) => found.length > 0, 'contains an unknown dataset'),
).transform((lists) => [...new Set(lists.flat())]);

export const verifyBlocksPerSecond: z.ZodType<number | 'auto', string> = plainText.toLowerCase().pipe(
  z.union([z.literal('auto'), decimalNumber(0, 100_000)], {
    error: 'is neither auto nor a number from 0 to 100000',
  }),
);

export const proofPolicy = oneOf('strict', 'record');
export const backfillProof = oneOf('none', 'receipts');
export const pollInterval = wholeNumber(10, 3_600_000);

/** `family:factory` or `family:factory:initCodeHash`. */
export const customExchange: z.ZodType<CustomExchange, string> = plainText.transform((text, context) => {
  const [family = '', factory = '', initCodeHash, ...others] = text.split(':').map((part) => part.trim());
  const exchange = { family, factory, initCodeHash };
  const problem = others.length > 0 ? 'it has more than three parts' : findExchangeProblem(exchange);
  if (problem === null) return exchange;
  context.addIssue({ code: 'custom', message: `is not family:address or family:address:hash: ${problem}` });
  return z.NEVER;
});

const FEED_DECIMALS_MAX = 36;
const YEAR_SECONDS = 31_536_000;
const DEFAULT_FEED_DECIMALS = '8';

/** `token:proxy[:decimals[:heartbeat]]`. `native` is the native token. */
export const tokenFeed: z.ZodType<TokenFeed, string> = plainText.transform((text, context) => {
  const [token = '', proxy = '', decimals = DEFAULT_FEED_DECIMALS, heartbeat, ...others] = text
    .split(':')
    .map((part) => part.trim());
  const problem = (): string | null => {
    if (others.length > 0) return 'it has more than four parts';
    if (token !== 'native' && !isAddress(token)) return 'its token is neither an address nor native';
    if (!isAddress(proxy)) return 'its feed is no address';
    if (!isWithin(decimals, 0, FEED_DECIMALS_MAX))
      return `its decimals are not between 0 and ${FEED_DECIMALS_MAX}`;
    const isPossible = heartbeat === undefined || isWithin(heartbeat, 1, YEAR_SECONDS);
    return isPossible ? null : `its heartbeat is not between 1 and ${YEAR_SECONDS} seconds`;
  };
  const found = problem();
  if (found === null)
    return {
      tokens: [token === 'native' ? ZERO_ADDRESS : parseAddress(token)],
      proxy: parseAddress(proxy),
      decimals: Number(decimals),
      aggregators: [parseAddress(proxy)],
      ...(heartbeat !== undefined && { heartbeatSeconds: Number(heartbeat) }),
    };
  context.addIssue({
    code: 'custom',
    message: `is not token:feed, token:feed:decimals or token:feed:decimals:heartbeat: ${found}`,
  });
  return z.NEVER;
});

export const tokenFeeds: z.ZodType<readonly TokenFeed[], string> = listOf(tokenFeed).superRefine(
  (feeds, context) => {
    const tokens = feeds.flatMap((feed) => feed.tokens);
    const twice = tokens.find((token, index) => tokens.indexOf(token) !== index);
    if (twice === undefined) return;
    const name = twice === ZERO_ADDRESS ? 'native' : twice;
    context.addIssue({ code: 'custom', message: `contains ${name} twice. A token has one feed` });
  },
);

function isWithin(digits: string, min: number, max: number): boolean {
  return DIGITS.test(digits) && Number(digits) >= min && Number(digits) <= max;
}
