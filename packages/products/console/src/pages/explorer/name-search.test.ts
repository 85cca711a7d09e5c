import { createChainRegistry } from '@chainstead/chains';
import { addressOf, storeToken } from '@chainstead/testkit';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { openConsoleStage } from '../../testing/console-stage.ts';
import { HOSTILE } from '../../testing/hostile-texts.ts';

const chains = ['eth', 'base'].map((key) => createChainRegistry().get(key));
const stage = stageOfFile(() => openConsoleStage({ chains }));
const visitor = madeForFile(() => stage.signIn());
const DOLLAR = addressOf(0xd1);
const BRIDGED = addressOf(0xd2);
const APES = addressOf(0xd3);
const FAKE = addressOf(0xd4);

beforeAll(async () => {
  const tokens = [
    [DOLLAR, 1, 'erc20', 'USD Coin', 'USDC', true],
    [BRIDGED, 8_453, 'erc20', 'USD Coin', 'USDC', false],
    [APES, 1, 'erc721', 'Bored Apes', 'APES', false],
    [FAKE, 1, 'erc20', `USDC ${HOSTILE[0]}`, 'FREE', false],
  ] as const;
  for (const [address, chain, standard, name, symbol, verified] of tokens)
    await storeToken(stage.database, chain, address, {
      standard,
      seen_as: 1,
      name,
      symbol,
      verified,
      facts_status: 'known',
    });
});

const lookUp = (text: string) => stage.get(`/console/look-up?${new URLSearchParams({ q: text })}`, visitor);
const suggestionsOf = (text: string) =>
  stage.get(`/console/look-up/suggestions.json?${new URLSearchParams({ q: text })}`, visitor);

function addressesIn(page: string): readonly string[] {
  return [...page.matchAll(/<td><a href="[^"]*" title="([^"]*)">/g)].map(([, address = '']) => address);
}

describe('a symbol or name in the look-up field', () => {
  test('lists its tokens on every chain, exact matches and listed ones first', async () => {
    const page = await (await lookUp('usdc')).text();
    expect(addressesIn(page)).toEqual([DOLLAR, BRIDGED, FAKE]);
  });

  test('opens the page of the only match, also of a collection', async () => {
    const answer = await lookUp('bored');
    expect(answer.headers.get('location')).toBe(`/console/look-up/address/${APES}?chain=eth`);
  });

  test('without a match is named, with the accepted input', async () => {
    const page = await (await lookUp('nothing like it')).text();
    expect(page).toContain('No token or collection has it in its symbol or name');
    expect(page).toContain('Accepted input');
  });

  test('suggests tokens while it is written', async () => {
    expect(await (await suggestionsOf('USD c')).json()).toEqual([
      { address: DOLLAR, text: 'USDC · USD Coin · eth' },
      { address: BRIDGED, text: 'USDC · USD Coin · base' },
    ]);
  });

  test.each(['%', '_', '\\', "'", 'a'.repeat(129), ' '])('%j finds nothing and does no harm', async (text) => {
    const answer = await suggestionsOf(text);
    expect({ status: answer.status, found: await answer.json() }).toEqual({ status: 200, found: [] });
  });
});
