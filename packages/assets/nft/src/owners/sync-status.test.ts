import { ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { account, ERC721 } from '../transfers/testing/example-moves.ts';
import { eth, type ListAnswer, openOwnersStage } from './testing/owners-stage.ts';

const stage = stageOfFile(openOwnersStage);
beforeEach(() => stage.empty());

const LISTS = ['', '/owners', '/1/owners'];
const stateOf = ({ status, status_message, indexed }: ListAnswer) => [status, status_message, indexed.complete];
const histories = () =>
  stage.scratch.database.query(sql`SELECT kind, status, subject FROM backfill_requests ORDER BY subject`);

async function collection(status: string): Promise<void> {
  await stage.scratch.database.query(
    sql`INSERT INTO nft_collections (token_address, chain_id, status) VALUES (${addressBytes(ERC721)}, ${eth.id}, ${status})`,
  );
}

describe('status', () => {
  test.each(LISTS)('of a collection without missing blocks is SYNCED: %s', async (rest) => {
    await stage.seen(ERC721, 'erc721');
    await stage.cover(0, 100);
    expect(stateOf(await stage.get(`${ERC721}${rest}`))).toEqual(['SYNCED', undefined, true]);
    expect(await histories()).toEqual([]);
  });

  test.each(LISTS)(
    'of a collection with missing blocks is SYNCING, and its own history is read: %s',
    async (rest) => {
      await stage.seen(ERC721, 'erc721');
      await stage.cover(50, 100);
      const answer = await stage.get(`${ERC721}${rest}`);
      expect(stateOf(answer)[0]).toBe('SYNCING');
      expect([answer.indexed.from_block, answer.indexed.complete]).toEqual(['50', false]);
    },
  );

  test('of many requests has one history read', async () => {
    const contract = account(0xabc);
    await stage.seen(contract, 'erc721');
    await stage.cover(50, 100);
    const first = await stage.get(contract);
    expect(first.status_message).toBe('Reading the history of this collection has begun');
    await Promise.all(Array.from({ length: 6 }, () => stage.get(`${contract}/owners`)));
    expect(await histories()).toEqual([{ kind: 'contract', status: 'pending', subject: addressBytes(contract) }]);
    expect((await stage.get(contract)).status_message).toBe('The history of this collection is being read');
  });

  test('of a collection whose own history fills what the chain lacks is SYNCED', async () => {
    await stage.seen(ERC721, 'erc721');
    await stage.cover(50, 100);
    await stage.scratch.database.query(
      sql`INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block) VALUES (${eth.id}, 'contract', ${addressBytes(ERC721)}, 'nft-transfers', 0, 49)`,
    );
    expect(stateOf(await stage.get(ERC721))).toEqual(['SYNCED', undefined, true]);
  });

  test('of a collection that was made in what is indexed is SYNCED', async () => {
    await stage.seen(ERC721, 'erc721');
    await stage.cover(50, 100);
    await stage.scratch.database.query(sql`UPDATE tokens SET created_block = 50`);
    expect(stateOf(await stage.get(ERC721))).toEqual(['SYNCED', undefined, true]);
  });

  test('says that it is being counted while it can’t be, and nothing is complete', async () => {
    await stage.seen(ERC721, 'erc721');
    await stage.cover(0, 100);
    await stage.add(1, [{ token: ERC721, id: 1n, from: ZERO_ADDRESS, to: account(1), amount: 1n }]);
    await stage.scratch.database.query(sql`UPDATE projections SET version = version + 1`);
    const message = 'Who holds this collection is being counted from the transfers that are indexed';
    for (const rest of LISTS)
      expect(stateOf(await stage.get(`${ERC721}${rest}`))).toEqual(['SYNCING', message, false]);
    expect(await stage.get(`${ERC721}/stats`)).toMatchObject({ indexed: { complete: false } });
    await stage.scratch.database.query(sql`UPDATE projections SET version = version - 1`);
    expect(stateOf(await stage.get(ERC721))).toEqual(['SYNCED', undefined, true]);
  });
});

describe('a contract that is no collection', () => {
  test.each(['not-nft', 'not-contract'])('is an empty list and SYNCED once it was read: %s', async (status) => {
    await stage.cover(50, 100);
    await collection(status);
    for (const rest of LISTS) {
      const answer = await stage.get(`${ERC721}${rest}`);
      expect([...stateOf(answer), answer.result]).toEqual(['SYNCED', undefined, true, []]);
    }
    expect(await histories()).toEqual([]);
  });

  test('is read first where nobody knows yet what it is, in nobody’s name; its history is not', async () => {
    await stage.cover(50, 100);
    const unknown = [
      'SYNCING',
      'Whether this contract is a collection is not known yet: it is being read',
      false,
    ];
    for (const rest of LISTS) expect(stateOf(await stage.get(`${ERC721}${rest}`))).toEqual(unknown);
    const queued = await stage.scratch.database.query(
      sql`SELECT status, requested_by, due_at <= now() AS due FROM nft_collections`,
    );
    expect(queued).toEqual([{ status: 'pending', requestedBy: null, due: true }]);
    expect(await histories()).toEqual([]);
  });

  test('has nothing missing where every block is indexed', async () => {
    await stage.cover(0, 100);
    expect(stateOf(await stage.get(ERC721))).toEqual(['SYNCED', undefined, true]);
  });
});
