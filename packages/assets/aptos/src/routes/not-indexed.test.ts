import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, it } from 'vitest';
import { ask, exampleApi } from '../testing/example-api.ts';
import { seedCoins } from '../testing/seeded-rows.ts';
import type { NetworkChoice } from './parameter.ts';

const scratch = scratchOfFile();

async function answerOf(choice: NetworkChoice, path: string) {
  const response = await ask(await exampleApi(scratch.database, choice), path);
  return { status: response.status, body: (await response.json()) as unknown };
}

const refusal = (message: string) => ({ status: 400, body: { message: [message], error: 'Bad Request' } });
const HASH = 'ab'.repeat(32);
const ACCOUNT = `0x${'1'.repeat(64)}`;

describe('a network that is not indexed here', () => {
  it.each([
    '/coins/latest?limit=1',
    '/coins/symbols?limit=1',
    `/coins?coin_type_hashes=${HASH}`,
    `/coins/transfers/blocks?limit=1&block_heights=1`,
    `/wallets/coins?limit=1&owner_addresses=${ACCOUNT}`,
    `/coins/owners/${HASH}/top-holders?limit=1`,
  ])('is refused by name at %s', async (path) => {
    expect(await answerOf({ indexed: [] }, path)).toMatchObject(
      refusal('Aptos mainnet is not indexed here: set APTOS_NODE_URL and restart'),
    );
    expect(await answerOf({ indexed: ['mainnet'] }, `${path}&network=testnet`)).toMatchObject(
      refusal('Aptos testnet is not indexed here: set APTOS_TESTNET_NODE_URL and restart'),
    );
    expect((await answerOf({ indexed: ['mainnet'] }, path)).status).toBe(200);
  });

  it('is answered with what is stored of it', async () => {
    await seedCoins(scratch.database, [{ version: 1, symbol: 'OLD', network: 'testnet' }]);
    expect(await answerOf({ indexed: [] }, '/coins/latest?limit=1&network=testnet')).toMatchObject({
      status: 200,
      body: { result: [{ symbol: 'OLD' }] },
    });
  });
});

it('names a dataset that is not indexed here, and its key', async () => {
  const choice: NetworkChoice = { indexed: ['mainnet'], datasets: ['coins'] };
  expect((await answerOf(choice, '/coins/latest?limit=1')).status).toBe(200);
  expect(await answerOf(choice, '/coins/transfers/blocks?limit=1&block_heights=1')).toMatchObject(
    refusal(
      'Dataset transfers is not indexed here: add it to APTOS_DATASETS (APTOS_DATASETS=transfers,…) and restart',
    ),
  );
});
