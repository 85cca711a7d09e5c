import { addressBytes } from '@chainstead/db';
import { addressOf, exampleChain } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { OWNERS, type TokenOwnersQuery, tokenOwnersStatement } from './token-owners-statement.ts';

const coin = addressOf(0xc0);
const chain = { ...exampleChain(), wrappedNative: coin };
const other = { ...chain, id: exampleChain({ id: 2 }).id, wrappedNative: addressOf(0xc1) };
const place = (number: number) => ({ balance: String(number), account: addressOf(number) });
const requested = (number: number, wanted: TokenOwnersQuery['wanted']): TokenOwnersQuery => ({
  token: addressOf(number),
  liveMaxAgeMs: number,
  freshFrom: new Date(number),
  wanted,
});

const SHAPES: readonly (readonly [string, (number: number) => TokenOwnersQuery['wanted']])[] = [
  ['a first page', (number) => ({ order: 'DESC', limit: number, after: null })],
  ['a page upwards', (number) => ({ order: 'ASC', limit: number, after: null })],
  ['a page behind an owner', (number) => ({ order: 'DESC', limit: number, after: place(number) })],
  ['certain accounts', (number) => ({ accounts: [addressOf(number)] })],
];

test.each(SHAPES)('%s of any token of any chain is one text with its own values', (_name, wantedOf) => {
  const one = tokenOwnersStatement(chain, requested(5, wantedOf(5)));
  const two = tokenOwnersStatement(other, requested(6, wantedOf(6)));
  expect(two.text).toBe(one.text);
  for (const [number, { id }, { values }] of [
    [5, chain, one],
    [6, other, two],
  ] as const) {
    expect(values).toContainEqual(addressBytes(addressOf(number)));
    expect(values).toContain(id);
    expect(values).toContain(number / 1_000);
    expect(values).toContainEqual(new Date(number));
    const wanted = wantedOf(number);
    if ('accounts' in wanted) expect(values).toContainEqual(wanted.accounts.map(addressBytes));
    else expect(values).toContain(wanted.limit + 1);
    if ('after' in wanted && wanted.after !== null) expect(values).toContain(wanted.after.balance);
  }
});

test('what asks for other rows, for labels, or of the wrapped coin has a text of its own', () => {
  const texts = SHAPES.flatMap(([, wantedOf]) => [
    tokenOwnersStatement(chain, requested(5, wantedOf(5))).text,
    tokenOwnersStatement(chain, requested(5, wantedOf(5)), { hasLabels: false }).text,
    tokenOwnersStatement(chain, requested(5, wantedOf(5)), { hasReadings: false }).text,
    tokenOwnersStatement(chain, requested(5, wantedOf(5)), { select: OWNERS.selectAsJsonOld }).text,
    tokenOwnersStatement(chain, { ...requested(5, wantedOf(5)), token: coin }).text,
  ]);
  expect(new Set(texts).size).toBe(texts.length);
});

test('the wrapped coins of two chains are told apart by their values', () => {
  const page = SHAPES[0]?.[1](5) ?? { accounts: [] };
  const one = tokenOwnersStatement(chain, { ...requested(5, page), token: coin });
  const two = tokenOwnersStatement(other, { ...requested(5, page), token: addressOf(0xc1) });
  expect(one.values).toContainEqual(addressBytes(coin));
  expect(two.values).not.toContainEqual(addressBytes(coin));
});
