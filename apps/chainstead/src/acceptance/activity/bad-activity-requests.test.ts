/** Each operation that says what happened, asked wrongly over a real socket: status and whole body of every answer. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shown } from '../assets/refusals.ts';
import { ACTIVITY_OPERATIONS } from './activity-operations.ts';
import { type ActivityStage, openActivityStage } from './activity-stage.ts';
import { BAD_ACTIVITY_BODIES } from './bad-activity-bodies.ts';
import { BAD_FUNCTION_CALLS } from './bad-function-calls.ts';
import { BAD_PARAMETERS } from './bad-parameters.ts';
import type { BadRequest } from './bad-request.ts';

const REQUESTS = [...BAD_PARAMETERS, ...BAD_ACTIVITY_BODIES, ...BAD_FUNCTION_CALLS];

let stage: ActivityStage;

beforeAll(async () => {
  stage = await openActivityStage();
});
afterAll(() => stage?.close());

/** Puts what is known of the stage where its name stands in braces. */
const fill = (text: string): string =>
  text.replaceAll('{cursor}', stage.cursor).replaceAll('{cursorShown}', shown(stage.cursor));

const titleOf = ({ method, path, sent = '', about = sent }: BadRequest): string =>
  `${method} ${path} ${about}`.slice(0, 160).trim();

const send = ({ method, path, contentType, sent }: BadRequest) =>
  stage.ask(fill(path), {
    method,
    ...(contentType !== undefined && { contentType }),
    ...(sent !== undefined && { body: sent }),
  });

describe.each(ACTIVITY_OPERATIONS.map(({ name }) => name))('%s', (name) => {
  const requests = REQUESTS.filter(({ operation }) => operation === name);

  test.each(requests.map((bad) => ({ title: titleOf(bad), bad })))('$title', async ({ bad }) => {
    expect(await send(bad)).toEqual({ status: bad.status, body: JSON.parse(fill(JSON.stringify(bad.body))) });
  });

  test('has at least three of them', () => {
    expect(requests.length).toBeGreaterThanOrEqual(3);
  });
});

test('there are at least 300, each another one, of all 21 operations', () => {
  expect(ACTIVITY_OPERATIONS).toHaveLength(21);
  const told = REQUESTS.map(({ method, path, contentType, sent }) => [method, path, contentType, sent].join());
  expect(new Set(told).size).toBe(told.length);
  expect(told.length).toBeGreaterThanOrEqual(300);
});

test('none of them asked a node, and none broke the server', async () => {
  expect(await stage.questions()).toBe(0);
  expect((await stage.ask('/web3/version', { method: 'GET' })).status).toBe(200);
});
