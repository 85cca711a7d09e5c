/** Each operation that says what happened, asked wrongly over a real socket: status and whole body of every answer. */
import { expect, test } from 'vitest';
import { testRequests } from '../request-table.ts';
import { ACTIVITY_OPERATIONS } from './activity-operations.ts';
import { openActivityStage } from './activity-stage.ts';
import { BAD_ACTIVITY_BODIES } from './bad-activity-bodies.ts';
import { BAD_FUNCTION_CALLS } from './bad-function-calls.ts';
import { BAD_PARAMETERS } from './bad-parameters.ts';

const stage = testRequests({
  operations: ACTIVITY_OPERATIONS.map(({ name }) => name),
  requests: [...BAD_PARAMETERS, ...BAD_ACTIVITY_BODIES, ...BAD_FUNCTION_CALLS],
  least: 300,
  open: openActivityStage,
});

test('they are of all 21 operations', () => {
  expect(ACTIVITY_OPERATIONS).toHaveLength(21);
});

test('none of them asked a node, and none broke the server', async () => {
  expect(await stage().nodeReads()).toBe(0);
  expect((await stage().ask('/web3/version')).status).toBe(200);
});
