/** Each operation on assets, asked wrongly over a real socket: status and whole body of every answer. */
import { expect, test } from 'vitest';
import { testRequests } from '../request-table.ts';
import { ABSENT_ASSETS } from './absent-assets.ts';
import { ASSET_OPERATIONS, TOKEN, TRADE_OPERATIONS } from './asset-operations.ts';
import { openAssetStage } from './asset-stage.ts';
import { BAD_BODIES } from './bad-bodies.ts';
import { BAD_PARAMETERS } from './bad-parameters.ts';

const stage = testRequests({
  operations: [...ASSET_OPERATIONS, ...TRADE_OPERATIONS].map(({ name }) => name),
  requests: [...BAD_PARAMETERS, ...BAD_BODIES, ...ABSENT_ASSETS],
  least: 150,
  open: openAssetStage,
});

test('they are of all 32 operations', () => {
  expect(ASSET_OPERATIONS).toHaveLength(32);
});

test('and none of them broke the server', async () => {
  expect((await stage().ask(`/erc20/${TOKEN}/transfers`)).status).toBe(200);
});
