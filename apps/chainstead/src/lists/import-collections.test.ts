import { readFileSync } from 'node:fs';
import { createChainRegistry } from '@chainstead/chains';
import { sql } from '@chainstead/db';
import { recordedData } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { type ImportListOptions, type ImportReport, importList } from './import-list.ts';

const { folder: FOLDER, isMissing, title } = recordedData('data/nft-metadata/opensea-v1');

const CATS = `0x${'ca'.repeat(20)}`;
const DOGS = `0x${'d0'.repeat(20)}`;
const BIRDS = `0x${'b1'.repeat(20)}`;

const scratch = scratchOfFile();
beforeEach(() => scratch.database.query(sql`TRUNCATE collection_list_entries, tokens`).then(() => undefined));

function imported(content: unknown, changes: Partial<ImportListOptions> = {}): Promise<ImportReport> {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const chains = createChainRegistry();
  return importList({
    database: scratch.database,
    chains,
    kind: 'collections',
    source: 'test',
    content: text,
    ...changes,
  });
}

const rows = (): Promise<Record<string, unknown>[]> =>
  scratch.database.query(
    sql`SELECT '0x' || encode(token_address, 'hex') AS address, chain_id, source, name, symbol, collection_logo AS logo,
       collection_banner_image AS banner, collection_category AS category, project_url, discord_url, twitter_username AS twitter,
       verified, possible_spam AS spam
     FROM collection_list_entries ORDER BY chain_id, token_address, source`,
  );

const cats = {
  token_address: CATS,
  chain: 'eth',
  name: 'Cats',
  symbol: 'CAT',
  collection_logo: 'https://x.example/logo.png',
  collection_banner_image: 'ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKHtRb',
  collection_category: 'pfps',
  project_url: 'https://cats.example',
  discord_url: 'https://discord.gg/cats',
  twitter_username: 'cats',
  verified_collection: true,
  possible_spam: false,
};
const catsRow = {
  address: CATS,
  chainId: 1,
  source: 'test',
  name: 'Cats',
  symbol: 'CAT',
  logo: 'https://x.example/logo.png',
  banner: 'ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKHtRb',
  category: 'pfps',
  projectUrl: 'https://cats.example',
  discordUrl: 'https://discord.gg/cats',
  twitter: 'cats',
  verified: true,
  spam: false,
};

describe('a list of collections', () => {
  test("may have the field names of the API's answer", async () => {
    expect(await imported([cats])).toEqual({ format: 'collections', rows: 1, skipped: [] });
    expect(await rows()).toEqual([catsRow]);
    // Collections are no tokens that anything has seen.
    expect(await scratch.database.query(sql`SELECT FROM tokens`)).toEqual([]);
  });

  test("may have OpenSea's, with a collection's contracts on their chains", async () => {
    const collection = {
      collection: 'cats',
      name: 'Cats',
      image_url: 'https://x.example/logo.png',
      banner_image_url: '',
      category: 'pfps',
      project_url: 'https://cats.example',
      discord_url: '',
      twitter_username: '@cats',
      safelist_status: 'verified',
      contracts: [
        { address: CATS, chain: 'ethereum' },
        { address: DOGS, chain: 'matic' },
        { address: BIRDS, chain: 'klaytn' },
      ],
    };
    expect(await imported({ collections: [collection], next: 'x' })).toEqual({
      format: 'collections',
      rows: 2,
      skipped: [{ reason: 'chain klaytn is unknown here', count: 1 }],
    });
    const common = {
      name: 'Cats',
      logo: 'https://x.example/logo.png',
      banner: null,
      discordUrl: null,
      twitter: 'cats',
    };
    expect(await rows()).toMatchObject([
      { address: CATS, chainId: 1, verified: true, spam: null, ...common },
      { address: DOGS, chainId: 137, verified: true, spam: null, ...common },
    ]);
  });

  test('may be a table', async () => {
    const csv = `address,chain_id,name,image_url,safelist_status,possible_spam\n${CATS},1,"Cats, Inc.",https://x.example/1.png,approved,false\n${DOGS},0x89,Dogs,,not_requested,TRUE\n`;
    expect(await imported(csv)).toMatchObject({ format: 'collections', rows: 2 });
    expect(await rows()).toMatchObject([
      { address: CATS, name: 'Cats, Inc.', logo: 'https://x.example/1.png', verified: true, spam: false },
      { address: DOGS, chainId: 137, name: 'Dogs', logo: null, verified: false, spam: true },
    ]);
  });

  test('that names no chain needs one', async () => {
    const { chain: _chain, ...bare } = cats;
    await expect(imported([bare])).rejects.toMatchObject({
      code: 'LIST_EMPTY',
      message: expect.stringContaining('1: it names no chain'),
    });
    await imported([bare], { chainId: 8453 });
    expect(await rows()).toMatchObject([{ address: CATS, chainId: 8453 }]);
  });

  test('imported again replaces exactly the rows of its source', async () => {
    await imported([cats, { address: DOGS, chain: 1, name: 'Dogs' }], { source: 'a' });
    await imported([{ ...cats, name: 'Other' }], { source: 'b' });
    await imported([{ ...cats, name: 'New' }], { source: 'a' });
    expect(await rows()).toMatchObject([
      { address: CATS, source: 'a', name: 'New' },
      { address: CATS, source: 'b', name: 'Other' },
    ]);
    await expect(imported([{ address: 'nonsense' }], { source: 'a' })).rejects.toMatchObject({
      code: 'LIST_EMPTY',
    });
    expect(await rows()).toHaveLength(2);
  });

  test('is checked entry by entry', async () => {
    const hostile = {
      address: DOGS,
      chain: 'eth',
      name: 'A\0B',
      image_url: 'javascript:alert(1)',
      external_url: 'https://a:b@evil.example',
      verified: 'perhaps',
    };
    expect(
      await imported([cats, hostile, { ...cats, name: 'again' }, { address: '0x12', chain: 'eth' }, 7]),
    ).toEqual({
      format: 'collections',
      rows: 2,
      skipped: [
        { reason: 'repeated address', count: 1 },
        { reason: 'address is not 0x and 40 hexadecimal digits', count: 1 },
      ],
    });
    expect(await rows()).toMatchObject([
      { address: CATS },
      { address: DOGS, name: 'AB', logo: null, projectUrl: null, verified: null },
    ]);
  });

  test.each([['{"a":1}'], ['[]'], ['[{"name":"no address"}]'], ['name,symbol\nA,B\n']])(
    'is not %s',
    async (content) => {
      await expect(imported(content)).rejects.toMatchObject({ code: 'LIST_FORMAT_UNKNOWN' });
    },
  );

  test.skipIf(isMissing)(title('may be recorded by OpenSea'), async () => {
    const content = readFileSync(`${FOLDER}/collections.json`, 'utf8');
    const report = await imported(content, { chainId: 1 });
    expect(report.rows).toBeGreaterThan(5);
    expect(await rows()).toContainEqual(
      expect.objectContaining({
        address: '0x06012c8cf97bead5deae237070f9587f8e7a266d',
        name: 'CryptoKitties',
        symbol: 'CKITTY',
        projectUrl: 'https://www.cryptokitties.co/',
        logo: expect.stringContaining('https://storage.opensea.io/0x06012c8c'),
      }),
    );
  });
});
