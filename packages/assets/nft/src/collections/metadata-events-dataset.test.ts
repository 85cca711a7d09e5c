import { type Address, type Hash, type Hex, type Log, parseAddress } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { runProjection } from '@chainstead/sync/ingest';
import { exampleChain, fieldsOfRow } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { encodeAbiParameters, toEventSelector } from 'viem';
import { beforeEach, describe, expect, test } from 'vitest';
import { nftMetadataEvents } from './metadata-events-dataset.ts';
import type { MetadataEventRow } from './schema.ts';

const chain = exampleChain();
const CONTRACT = parseAddress(`0x${'c0'.repeat(20)}`);
const OTHER = parseAddress(`0x${'0c'.repeat(20)}`);
const BLOCK_SECONDS = 1_700_000_000;
const MAX = 2n ** 256n - 1n;

const topic = (signature: string): Hash => toEventSelector(`event ${signature}`) as Hash;
const words = (...values: bigint[]): Hex =>
  `0x${values.map((value) => value.toString(16).padStart(64, '0')).join('')}`;

function log(topics: readonly Hex[], data: Hex, logIndex = 0): Log {
  return {
    address: CONTRACT,
    topics: topics as readonly Hash[],
    data,
    blockNumber: 7,
    blockHash: words(1n) as Hash,
    blockTimestamp: null,
    transactionHash: words(2n) as Hash,
    transactionIndex: 0,
    logIndex,
  };
}

function decode(...logs: Log[]): MetadataEventRow[] {
  return nftMetadataEvents.decode(logs, { chain, timestampOf: () => BLOCK_SECONDS });
}

describe('an event', () => {
  test.each([
    ['one token', log([topic('MetadataUpdate(uint256)')], words(5n)), [0, '5', '5']],
    ['one token, indexed', log([topic('MetadataUpdate(uint256)'), words(5n)], '0x'), [0, '5', '5']],
    [
      'many tokens',
      log([topic('BatchMetadataUpdate(uint256,uint256)')], words(0n, MAX)),
      [0, '0', MAX.toString()],
    ],
    [
      'many tokens, indexed',
      log([topic('BatchMetadataUpdate(uint256,uint256)'), words(1n), words(9n)], '0x'),
      [0, '1', '9'],
    ],
    [
      'many tokens, the first indexed',
      log([topic('BatchMetadataUpdate(uint256,uint256)'), words(1n)], words(9n)),
      [0, '1', '9'],
    ],
    [
      'a URI with an indexed text',
      log([topic('URI(string,uint256)'), words(5n), words(MAX)], '0x'),
      [0, MAX.toString(), MAX.toString()],
    ],
    [
      'a URI without an index',
      log(
        [topic('URI(string,uint256)')],
        encodeAbiParameters([{ type: 'string' }, { type: 'uint256' }], ['ipfs://x', 7n]),
      ),
      [0, '7', '7'],
    ],
    [
      'a URI of ERC-1155',
      log([topic('URI(string,uint256)'), words(MAX)], encodeAbiParameters([{ type: 'string' }], ['ipfs://x'])),
      [0, MAX.toString(), MAX.toString()],
    ],
    ['the contract (ERC-7572)', log([topic('ContractURIUpdated()')], '0x'), [1, null, null]],
    [
      'the contract, in the older form',
      log(
        [topic('ContractURIUpdated(string,string)')],
        encodeAbiParameters([{ type: 'string' }, { type: 'string' }], ['a', 'b']),
      ),
      [1, null, null],
    ],
  ])('about %s is a row', (_, event, [kind, fromTokenId, toTokenId]) => {
    expect(decode(event)).toEqual([
      {
        tokenAddress: CONTRACT,
        chainId: 1,
        blockNumber: 7,
        transactionIndex: 0,
        logIndex: 0,
        kind,
        fromTokenId,
        toTokenId,
        blockTimestamp: '2023-11-14T22:13:20Z',
      },
    ]);
  });

  test.each([
    ['a range that ends before it begins', log([topic('BatchMetadataUpdate(uint256,uint256)')], words(9n, 1n))],
    ['no id', log([topic('MetadataUpdate(uint256)')], '0x')],
    ['too many ids', log([topic('MetadataUpdate(uint256)')], words(1n, 2n))],
    ['half a word', log([topic('MetadataUpdate(uint256)')], '0x1234')],
    ['a URI without its id', log([topic('URI(string,uint256)')], '0x')],
    ['another meaning', log([topic('Transfer(address,address,uint256)'), words(1n), words(2n)], words(3n))],
    ['no topic', log([], words(3n))],
  ])('with %s is none', (_, event) => {
    expect(decode(event)).toEqual([]);
  });

  test('may hold anything without harm', () => {
    const hex = (length: number): fc.Arbitrary<Hex> =>
      fc
        .uint8Array({ minLength: length, maxLength: length })
        .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
    const data = fc.uint8Array({ maxLength: 200 }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
    fc.assert(
      fc.property(
        fc.constantFrom(...nftMetadataEvents.topics(chain)),
        fc.array(hex(32), { maxLength: 3 }),
        data,
        (first, topics, payload) => {
          for (const row of decode(log([first, ...topics], payload)))
            expect(fieldsOfRow(nftMetadataEvents.table.copyLine(row))).toHaveLength(
              nftMetadataEvents.table.columns.length,
            );
        },
      ),
    );
  });
});

describe('rows that were added', () => {
  const scratch = scratchOfFile();
  beforeEach(() =>
    scratch.database
      .query(sql`TRUNCATE nft_collections, nft_token_metadata, nft_metadata_events`)
      .then(() => undefined),
  );

  const bytes = (address: Address): Buffer => Buffer.from(address.slice(2), 'hex');
  async function know(address: Address, status: string, syncedAfterSeconds: number | null): Promise<void> {
    const syncedAt = syncedAfterSeconds === null ? null : new Date((BLOCK_SECONDS + syncedAfterSeconds) * 1_000);
    await scratch.database.query(
      sql`INSERT INTO nft_collections (token_address, chain_id, status, synced_at) VALUES (${bytes(address)}, 1, ${status}, ${syncedAt})`,
    );
    await scratch.database.query(
      sql`INSERT INTO nft_token_metadata (token_address, chain_id, token_id, status, synced_at)
       SELECT ${bytes(address)}, 1, id, 'known', ${syncedAt} FROM unnest(ARRAY[1, 5, 9]) AS id`,
    );
  }
  let runs = 0;
  async function add(...logs: Log[]): Promise<void> {
    await scratch.database.transaction(async (transaction) => {
      const rows = decode(...logs).map((row) => nftMetadataEvents.table.copyLine(row));
      await transaction.copy(nftMetadataEvents.table.name, nftMetadataEvents.table.columns, rows);
      await transaction.query(
        sql`CREATE TEMPORARY TABLE added_events ON COMMIT DROP AS SELECT * FROM nft_metadata_events`,
      );
      // Every second run acts as if tables were distributed.
      await runProjection(transaction, runs++ % 2 === 1, (access) =>
        (nftMetadataEvents.projections ?? []).flatMap((projection) =>
          projection.added({ rows: rawSql('added_events'), subjects: rawSql(''), access }),
        ),
      );
    });
  }
  async function due(): Promise<string[]> {
    const rows = await scratch.database.query<{ what: string }>(
      sql`SELECT encode(substr(token_address, 1, 1), 'hex') AS what FROM nft_collections WHERE due_at <= now()
       UNION ALL SELECT encode(substr(token_address, 1, 1), 'hex') || ':' || token_id FROM nft_token_metadata WHERE due_at <= now() ORDER BY 1`,
    );
    return rows.map(({ what }) => what);
  }

  const contractUpdate = log([topic('ContractURIUpdated()')], '0x');
  const tokensUpdate = log([topic('BatchMetadataUpdate(uint256,uint256)')], words(2n, MAX), 1);

  test('make known collections and tokens due that were read before the event', async () => {
    await know(CONTRACT, 'known', -3_600);
    await know(OTHER, 'known', -3_600);
    await add(contractUpdate, tokensUpdate);
    expect(await due()).toEqual(['c0', 'c0:5', 'c0:9']);
  });

  test('count what was read shortly before or never as older', async () => {
    await know(CONTRACT, 'failed', null);
    await add(contractUpdate, log([topic('MetadataUpdate(uint256)')], words(1n), 1));
    expect(await due()).toEqual(['c0', 'c0:1']);
    await scratch.database.query(sql`TRUNCATE nft_collections, nft_token_metadata, nft_metadata_events`);
    await know(CONTRACT, 'known', 30);
    await add(contractUpdate);
    expect(await due()).toEqual(['c0']);
  });

  test('leave alone what was read long after, what was refused, and what nobody asked for', async () => {
    await know(CONTRACT, 'known', 3_600);
    await add(contractUpdate, tokensUpdate);
    expect(await due()).toEqual([]);
    await scratch.database.query(sql`TRUNCATE nft_collections, nft_token_metadata, nft_metadata_events`);
    await scratch.database.query(
      sql`INSERT INTO nft_collections (token_address, chain_id, status, due_at) VALUES (${bytes(CONTRACT)}, 1, 'not-nft', now() + interval '1 hour')`,
    );
    await add(contractUpdate);
    expect(await due()).toEqual([]);
    expect(await scratch.database.query(sql`SELECT status FROM nft_collections`)).toEqual([
      { status: 'not-nft' },
    ]);
  });
});
