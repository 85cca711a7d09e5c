import { type ChainId, parseAddress } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { requestCollection, requestToken } from './request-metadata.ts';

const scratch = scratchOfFile();

test('of many requests of a key at once exactly so many may wait, collections and tokens together', async () => {
  const { database } = scratch;
  const chainId = 1 as ChainId;
  const addressOf = (n: number) => parseAddress(`0x${n.toString(16).padStart(40, '0')}`);
  const requester = { id: 'greedy', limit: 10 };
  const outcomes = await Promise.allSettled(
    Array.from({ length: 60 }, (_, n) =>
      n % 2 === 0
        ? requestCollection(database, chainId, { address: addressOf(n), again: false }, requester)
        : requestToken(database, chainId, { address: addressOf(n), tokenId: '1', source: 'uri' }, requester),
    ),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  const [refused] = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  expect(refused).toMatchObject({ code: 'TOO_MANY_WAITING', status: 429 });
  const another = { id: 'modest', limit: 10 };
  expect(await requestCollection(database, chainId, { address: addressOf(1_000), again: false }, another)).toBe(
    true,
  );
});
