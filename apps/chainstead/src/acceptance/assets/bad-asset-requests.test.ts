/** Each operation on assets, asked wrongly over a real socket: status and whole body of every answer. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ABSENT_ASSETS } from './absent-assets.ts';
import { ASSET_OPERATIONS, TOKEN } from './asset-operations.ts';
import type { AssetRequest } from './asset-request.ts';
import { type AssetStage, openAssetStage } from './asset-stage.ts';
import { BAD_BODIES } from './bad-bodies.ts';
import { BAD_PARAMETERS } from './bad-parameters.ts';

const REQUESTS = [...BAD_PARAMETERS, ...BAD_BODIES, ...ABSENT_ASSETS];

let stage: AssetStage;

beforeAll(async () => {
  stage = await openAssetStage();
});
afterAll(() => stage?.close());

/** Puts what is known of the stage where its name stands in braces. */
function fill(text: string): string {
  return text.replaceAll(/\{([A-Za-z0-9]+)\}/g, (whole, name: string) => stage.known[name] ?? whole);
}

const titleOf = ({ method = 'GET', path, sent = '' }: AssetRequest): string =>
  `${method} ${path} ${sent}`.slice(0, 160).trim();

describe.each(ASSET_OPERATIONS.map(({ name }) => name))('%s', (name) => {
  const requests = REQUESTS.filter(({ operation }) => operation === name);

  test.each(requests.map((request) => ({ title: titleOf(request), request })))('$title', async ({ request }) => {
    const { method, path, contentType, sent, status, body } = request;
    const answer = await stage.ask(fill(path), {
      ...(method !== undefined && { method }),
      ...(contentType !== undefined && { contentType }),
      ...(sent !== undefined && { body: sent }),
    });
    expect(answer).toEqual({ status, body: JSON.parse(fill(JSON.stringify(body))) });
  });

  test('has at least three of them', () => {
    expect(requests.length).toBeGreaterThanOrEqual(3);
  });
});

test('there are at least 150, each another one, of all 32 operations', () => {
  expect(ASSET_OPERATIONS).toHaveLength(32);
  const told = REQUESTS.map(({ method, path, contentType, sent }) => [method, path, contentType, sent].join());
  expect(new Set(told).size).toBe(told.length);
  expect(told.length).toBeGreaterThanOrEqual(150);
});

test('and none of them broke the server', async () => {
  expect((await stage.ask(`/erc20/${TOKEN}/transfers`)).status).toBe(200);
});
