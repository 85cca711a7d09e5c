import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { type ChainNode, createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  addressOf,
  type ExampleContract,
  exampleCollection,
  serveContracts,
  textOf,
  wordOf,
} from './testing/example-contracts.ts';
import { type ExampleReading, startReading } from './testing/example-reading.ts';
import { type ExampleServer, serveExample } from './testing/example-server.ts';

const soon = { timeout: 15_000, interval: 30 };

describe('a token', () => {
  let scratch: ScratchDatabase;
  let node: ChainNode & { readonly chainId: number };
  let documents: ExampleServer;
  let reading: ExampleReading | null = null;
  const contracts = new Map<Address, ExampleContract>();

  beforeAll(async () => {
    node = await serveContracts(contracts);
    documents = await serveExample({
      [`/1155/${wordOf(10n).slice(2)}.json`]: '{"name":"Sword","attributes":[{"trait_type":"b"}],"2":1,"1":2}',
    });
  });
  afterAll(async () => {
    await node.close();
    await documents.close();
  });
  beforeEach(async () => {
    scratch = await createScratchDatabase();
    contracts.clear();
  });
  afterEach(async () => {
    await reading?.close();
    await scratch.drop();
  });

  async function start(): Promise<void> {
    reading = await startReading({ database: scratch.database, node });
  }
  const swords = addressOf(7);
  async function ask(tokenId: string): Promise<void> {
    await scratch.database.query(
      sql`INSERT INTO nft_token_metadata (token_address, chain_id, token_id, due_at) VALUES (decode(substr(${swords}, 3), 'hex'), ${node.chainId}, ${tokenId}::numeric, now())`,
    );
  }
  const tokenIs = (expected: object): Promise<void> =>
    vi.waitFor(
      async () =>
        expect(await scratch.database.query(sql`SELECT * FROM nft_token_metadata`)).toEqual([
          expect.objectContaining(expected),
        ]),
      soon,
    );

  test("of ERC-1155 is read from its URI with the id put in, and keeps the document's own text", async () => {
    const uri = `${documents.url}/1155/{id}.json`;
    contracts.set(
      swords,
      exampleCollection('erc1155', {}, { [`0x0e89341c${wordOf(10n).slice(2)}`]: textOf(uri) }),
    );
    await ask('10');
    await start();
    await tokenIs({
      status: 'known',
      tokenUri: uri.replace('{id}', wordOf(10n).slice(2)),
      metadata: '{"name":"Sword","attributes":[{"trait_type":"b"}],"2":1,"1":2}',
      errorCode: null,
      dueAt: null,
    });
  });

  test('of ERC-721 is read from tokenURI, up to the largest id', async () => {
    const id = (2n ** 256n - 1n).toString();
    contracts.set(
      swords,
      exampleCollection(
        'erc721',
        {},
        { [`0xc87b56dd${'f'.repeat(64)}`]: textOf('data:application/json,{"name":"Last"}') },
      ),
    );
    await ask(id);
    await start();
    await tokenIs({ status: 'known', tokenId: id, metadata: '{"name":"Last"}' });
  });

  test('without a URI has none; with a bad one fails and says why', async () => {
    contracts.set(swords, exampleCollection('erc721'));
    await ask('1');
    await start();
    await tokenIs({ status: 'none', metadata: null, errorCode: null, dueAt: null });
    contracts.set(swords, exampleCollection('erc721', {}, { default: textOf('file:///etc/passwd') }));
    await scratch.database.query(sql`UPDATE nft_token_metadata SET due_at = now()`);
    await tokenIs({ status: 'failed', tokenUri: 'file:///etc/passwd', errorCode: 'DOCUMENT_URI_UNSUPPORTED' });
  });
});
