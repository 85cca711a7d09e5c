import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { stageOfTest } from '@chainstead/testkit/hooks';
import { describe, expect, test, vi } from 'vitest';
import { requestToken, type TokenSource } from './request-metadata.ts';
import { addressOf, exampleCollection, textOf, wordOf } from './testing/example-contracts.ts';
import { ask, eth, openMetadataStage } from './testing/metadata-api.ts';

const CATS = addressOf(1);

const stage = stageOfTest(openMetadataStage);

const metadata = async (api: ApiApp, address: Address = CATS, query = '') =>
  ask(api, `${address}/metadata${query}`);

describe('reading again', () => {
  test('a collection: 201 at once, what is known is served meanwhile', async () => {
    let name = 'Before';
    stage.contracts.set(CATS, exampleCollection('erc721', { name: () => name }));
    const api = await stage.openApi();
    await stage.startWorker();
    expect((await metadata(api)).body).toMatchObject({ name: 'Before' });
    name = 'After';
    expect(await ask(api, `${CATS}/sync`, 'PUT')).toMatchObject({ status: 201, body: { status: 'SYNCING' } });
    expect((await metadata(api)).status).toBe(200);
    await vi.waitFor(async () => expect((await metadata(api)).body).toMatchObject({ name: 'After' }), {
      timeout: 10_000,
    });
  });

  test('a collection that nobody knows, and one that was refused', async () => {
    const api = await stage.openApi();
    await stage.startWorker();
    expect((await metadata(api)).status).toBe(404);
    stage.contracts.set(CATS, exampleCollection('erc721', { name: 'Cats' }));
    expect((await ask(api, `${CATS}/sync?chain=eth`, 'PUT')).status).toBe(201);
    await vi.waitFor(async () => expect((await metadata(api)).status).toBe(200));
  });

  test('a token, and waiting for it', async () => {
    let uri = 'data:application/json,{"name":"1"}';
    stage.contracts.set(
      CATS,
      exampleCollection('erc721', {}, { [`0xc87b56dd${wordOf(1n).slice(2)}`]: () => textOf(uri) }),
    );
    const api = await stage.openApi();
    await stage.startWorker();
    const resync = async (query = '?mode=sync', id = '1') => ask(api, `${CATS}/${id}/metadata/resync${query}`);
    const stored = async () =>
      stage.scratch.database.query(sql`SELECT metadata, token_uri FROM nft_token_metadata WHERE token_id = 1`);
    const lastRequestedAt = async () => {
      const [row] = await stage.scratch.database.query<{ uriSyncedAt: Date | null }>(
        sql`SELECT uri_synced_at FROM nft_token_metadata WHERE token_id = 1`,
      );
      return row?.uriSyncedAt?.getTime() ?? 0;
    };
    expect(await resync()).toMatchObject({ status: 200, body: { status: 'SYNCED' } });
    expect(await stored()).toEqual([{ metadata: '{"name":"1"}', tokenUri: uri }]);
    const firstRequested = await lastRequestedAt();
    expect(firstRequested).toBeGreaterThan(0);
    // The document from its last URI, not from its current one.
    uri = 'data:application/json,{"name":"2"}';
    expect((await resync('?mode=sync&flag=metadata')).status).toBe(200);
    expect(await stored()).toMatchObject([{ metadata: '{"name":"1"}' }]);
    expect(await lastRequestedAt()).toBe(firstRequested);
    expect(await resync('')).toMatchObject({ status: 202, body: { status: 'SYNCING' } });
    await vi.waitFor(async () => expect(await stored()).toMatchObject([{ metadata: '{"name":"2"}' }]), {
      timeout: 10_000,
    });
    expect(await lastRequestedAt()).toBeGreaterThan(firstRequested);
    uri = 'data:application/json,nonsense';
    expect(await resync()).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('could not be read') },
    });
    expect(await stored()).toMatchObject([{ metadata: '{"name":"2"}' }]);
    expect(await resync('?mode=sync', '0x2')).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('names no metadata for token 2') },
    });
  });

  test('a token: the document from where it was, until somebody wants the contract asked', async () => {
    let uri = 'data:application/json,{"name":"1"}';
    stage.contracts.set(
      CATS,
      exampleCollection('erc721', {}, { [`0xc87b56dd${wordOf(1n).slice(2)}`]: () => textOf(uri) }),
    );
    const { database } = stage.scratch;
    const request = (source: TokenSource) =>
      requestToken(database, eth.id, { address: CATS, tokenId: '1', source }, { id: 'open', limit: 9 });
    const settled = () =>
      vi.waitFor(
        async () => {
          const [row] = await database.query(
            sql`SELECT status, metadata, from_known_uri FROM nft_token_metadata`,
          );
          expect(row).toMatchObject({ status: 'known', fromKnownUri: false });
          return row?.metadata;
        },
        { timeout: 10_000 },
      );
    await stage.openApi();
    const stop = await stage.startWorker();
    await request('uri');
    expect(await settled()).toBe('{"name":"1"}');
    uri = 'data:application/json,{"name":"2"}';
    await request('metadata');
    expect(await settled()).toBe('{"name":"1"}');
    await stop();
    expect([await request('metadata'), await request('metadata')]).toEqual([true, false]);
    expect([await request('uri'), await request('metadata')]).toEqual([true, false]);
    await stage.startWorker();
    expect(await settled()).toBe('{"name":"2"}');
  });
});
