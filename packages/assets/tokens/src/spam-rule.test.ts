import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from '@chainstead/db';
import { recordedData } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import { SPAM_PATTERNS } from './pending-metadata.ts';

const EXPRESSIONS = SPAM_PATTERNS.map((pattern) => new RegExp(pattern, 'i'));

/** The rule as JavaScript reads it. */
function looksLikeSpam(name: string | null, symbol: string | null): boolean {
  return EXPRESSIONS.some((expression) => expression.test(`${name ?? ''} ${symbol ?? ''}`));
}

const SPAM: readonly (readonly [string | null, string | null])[] = [
  ['Visit https://claim-usdc.example', 'USDC'],
  ['www.eth-gift.xyz', 'ETH'],
  ['! Visit usdcoin.site to claim', 'USDC'],
  ['aave-drop.com/claim', 'AAVE'],
  ['t.me/freecoins', 'FREE'],
  ['$5,000 Reward', 'GET'],
  ['$ UNI Airdrop', 'UNI'],
  ['Airdrop $ARB', null],
  ['Claim your rewards', 'CLAIM'],
  ['Voucher for 100 eth at voucher.gift', 'V'],
  ['UЅDС', 'USDС'],
  [null, 'reward.finance bonus'],
  ['€1000 gift card', 'GIFT'],
];

const HONEST: readonly (readonly [string | null, string | null])[] = [
  [null, null],
  ['', ''],
  ['yearn.finance', 'YFI'],
  ['Ether.fi', 'ETHFI'],
  ['Curve.fi ETH/stETH', 'steCRV'],
  ['Jarvis Reward Token', 'JRT'],
  ['Ankr Avalanche Reward Earning Bond', 'aAVAXb'],
  ['Arbitrum $2 Put Options', 'ARB$2PUT'],
  ['$MrPotato', '$MRP'],
  ['Токен Рубль', 'РУБ'],
  ['Staked + Bonus + Fee GMX', 'sbfGMX'],
  ['Visitor Token', 'VISIT'],
];

test.each(SPAM)('%s (%s) is spam', (name, symbol) => {
  expect(looksLikeSpam(name, symbol)).toBe(true);
});

test.each(HONEST)('%s (%s) is not', (name, symbol) => {
  expect(looksLikeSpam(name, symbol)).toBe(false);
});

interface Listed {
  readonly name: string;
  readonly symbol: string;
}

const { folder: FOLDER, isMissing, title } = recordedData('data/lists');

function wellKnownTokens(): Listed[] {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
  const files = readdirSync(join(FOLDER, 'uniswap-default-token-list')).map(
    (file) => `uniswap-default-token-list/${file}`,
  );
  return [
    ...files.flatMap((file) => read(file) as Listed[]),
    ...Object.values(read('metamask-contract-metadata/contract-map.json') as Record<string, Listed>),
    ...(read('viaprotocol-tokenlists/ethereum.sample.json') as Listed[]),
  ];
}

describe.skipIf(isMissing)(title('real lists'), () => {
  test('no token of the well-known lists is marked', () => {
    const tokens = wellKnownTokens();
    expect(tokens.length).toBeGreaterThan(1_400);
    expect(tokens.filter(({ name, symbol }) => looksLikeSpam(name, symbol))).toEqual([]);
  });
});

describe('the same rule in Postgres', () => {
  const scratch = scratchOfFile();

  test('judges every name alike', async () => {
    const listed = isMissing ? [] : wellKnownTokens().map(({ name, symbol }) => [name, symbol] as const);
    const pairs = [...SPAM, ...HONEST, ...listed];
    const rows = await scratch.database.query<{ spam: boolean }>(
      sql`SELECT concat(name, ' ', symbol) ~* ANY (${SPAM_PATTERNS}::text[]) AS spam
       FROM unnest(${pairs.map(([name]) => name)}::text[], ${pairs.map(([, symbol]) => symbol)}::text[]) WITH ORDINALITY AS token(name, symbol, place) ORDER BY place`,
    );
    expect(rows.map((row) => row.spam)).toEqual(pairs.map(([name, symbol]) => looksLikeSpam(name, symbol)));
  });
});
