/** How a token is held, over a real node. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GoldStage, openGoldStage } from './testing/gold-stage.ts';

let stage: GoldStage;

beforeAll(async () => {
  stage = await openGoldStage();
  // Has what the token says of itself read.
  await stage.ownersOf(stage.gold.address);
});
afterAll(() => stage?.close());

describe('how a token is held', () => {
  test('is counted by size, by how it came, and over time', async () => {
    const { status, body } = await stage.ask(`erc20/${stage.gold.address}/holders`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      totalHolders: 29,
      holderSupply: {
        top10: { supply: '999.981995', supplyPercent: 99.9981995 },
        top500: { supply: '1000', supplyPercent: 100 },
      },
      holdersByAcquisition: { swap: 0, transfer: 4, airdrop: 25 },
      holderDistribution: { whales: 1, sharks: 2, dolphins: 0, fish: 0, octopus: 0, crabs: 0, shrimps: 26 },
      holderChange: { '30d': { change: 29, changePercent: 100 } },
      indexed: { complete: true },
    });
  });

  test('of a token that only tells of transfers is by nobody', async () => {
    const { body } = await stage.ask(`erc20/${stage.spam.address}/holders`);
    expect(body).toMatchObject({
      totalHolders: 0,
      holderSupply: { top500: { supply: '0', supplyPercent: 0 } },
      holderChange: { '1h': { change: 0, changePercent: 0 } },
      indexed: { complete: false },
    });
  });

  test('of such a token is still by nobody when it tells of the same accounts again', async () => {
    await stage.spam.call('shout', 0x2000n, 150n);
    await stage.follow();
    await stage.scratch.database.query('TRUNCATE state_questions');
    const { body } = await stage.ask(`erc20/${stage.spam.address}/holders`);
    expect(body).toMatchObject({ totalHolders: 0, holderSupply: { top10: { supply: '0' } } });
  });
});

test('before they are counted, the answer is 202', async () => {
  const { scratch, gold, node } = stage;
  await scratch.database.query('TRUNCATE state_questions');
  await scratch.database.query('DELETE FROM derived_states');
  const { status, body } = await stage.ask(`erc20/${gold.address}/holders`);
  expect([status, body]).toEqual([
    202,
    { message: 'Holders of this token are being counted. Please try again later.' },
  ]);
  expect(node.received.length).toBeGreaterThan(0);
});
