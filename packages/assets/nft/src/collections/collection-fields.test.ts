import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CollectionFields, readCollectionFields } from './collection-fields.ts';

const V0 = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKHtRb';
const one = (document: Record<string, unknown>): Partial<CollectionFields> =>
  Object.fromEntries(Object.entries(readCollectionFields(document)).filter(([, value]) => value !== null));

describe('a document', () => {
  test("in OpenSea's form gives every field", () => {
    expect(
      readCollectionFields({
        name: 'Cool Cats',
        symbol: 'COOL',
        image_url: 'https://example.com/logo.png',
        banner_image_url: 'ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKHtRb/banner.png',
        category: 'pfps',
        project_url: 'https://coolcats.example',
        wiki_url: 'https://wiki.example/cool',
        discord_url: 'https://discord.gg/coolcats',
        telegram_url: 'https://t.me/coolcats',
        twitter_username: 'coolcats',
        instagram_username: 'coolcatsnft',
      }),
    ).toEqual({
      name: 'Cool Cats',
      symbol: 'COOL',
      collectionLogo: 'https://example.com/logo.png',
      collectionBannerImage: 'ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKHtRb/banner.png',
      collectionCategory: 'pfps',
      projectUrl: 'https://coolcats.example',
      wikiUrl: 'https://wiki.example/cool',
      discordUrl: 'https://discord.gg/coolcats',
      telegramUrl: 'https://t.me/coolcats',
      twitterUsername: 'coolcats',
      instagramUsername: 'coolcatsnft',
    });
  });

  test.each<[string, Record<string, unknown>, Partial<CollectionFields>]>([
    ['names', { title: 'C', collection_name: 'B' }, { name: 'B' }],
    ['a name that is empty', { name: '  ', title: 'C' }, { name: 'C' }],
    ['a name that is a number', { name: 7, title: { a: 1 } }, {}],
    ['a name with controls and a NUL', { name: 'A\0B\n\u202eC' }, { name: 'AB C' }],
    ['a name too long', { name: 'x'.repeat(1_000) }, { name: 'x'.repeat(256) }],
    [
      'ERC-7572 names',
      { image: 'ar://x/1', banner_image: 'https://b.example/', external_link: 'https://e.example' },
      {
        collectionLogo: 'ar://x/1',
        collectionBannerImage: 'https://b.example/',
        projectUrl: 'https://e.example',
      },
    ],
    [
      'a featured picture for both',
      { featured_image: 'https://f.example/f.png' },
      {
        collectionLogo: 'https://f.example/f.png',
        collectionBannerImage: 'https://f.example/f.png',
      },
    ],
    [
      "Venly's media",
      {
        media: [
          { type: 'logo', value: 'https://x.example' },
          { type: 'banner', value: 'https://b.example' },
        ],
      },
      {
        collectionBannerImage: 'https://b.example',
      },
    ],
    [
      'an SVG written out',
      { image: 'data:image/svg+xml;base64,PHN2Zy8+' },
      {
        collectionLogo: 'data:image/svg+xml;base64,PHN2Zy8+',
      },
    ],
    ['a picture written out too long', { image: `data:image/png;base64,${'A'.repeat(40_000)}` }, {}],
    ['a page written out', { image: 'data:text/html,<script>alert(1)</script>' }, {}],
    ['a script', { image: 'javascript:alert(1)', external_link: 'JaVaScRiPt:alert(1)', wiki: 'vbscript:x' }, {}],
    ['a link with a password', { external_link: 'https://bank.example@evil.example/' }, {}],
    ['a link with quotes', { external_link: 'https://x.example/"onload="alert(1)' }, {}],
    ['a link without protocol', { external_link: 'www.example.com' }, {}],
    ['a picture by its identifier alone', { image: V0 }, { collectionLogo: `ipfs://${V0}` }],
    [
      'the first usable of several',
      { image: 'javascript:1', image_url: 5, logo: 'https://l.example/l' },
      {
        collectionLogo: 'https://l.example/l',
      },
    ],
    ['a list of categories', { categories: [1, '', 'art', 'music'] }, { collectionCategory: 'art' }],
    ['tags', { category: [], tags: ['game'] }, { collectionCategory: 'game' }],
    [
      'links within',
      { links: { website: 'https://w.example', wiki: 'https://k.example', discord: 'abc123' } },
      {
        projectUrl: 'https://w.example',
        wikiUrl: 'https://k.example',
        discordUrl: 'https://discord.gg/abc123',
      },
    ],
    ['an invite without protocol', { discord: 'discord.gg/abc' }, { discordUrl: 'https://discord.gg/abc' }],
    ['no invite', { discord: 'call me, Bob#1234' }, {}],
    ['a Telegram handle', { telegram: '@cats' }, { telegramUrl: 'https://t.me/cats' }],
    ['a Telegram link without protocol', { telegram: 't.me/+abc' }, { telegramUrl: 'https://t.me/+abc' }],
    ['a Twitter handle', { twitter: '@cats' }, { twitterUsername: 'cats' }],
    ['a Twitter URL', { twitter: 'https://twitter.com/cats?lang=en' }, { twitterUsername: 'cats' }],
    ['an X URL without protocol', { x: 'www.x.com/@cats/status/1' }, { twitterUsername: 'cats' }],
    ["another site's URL", { twitter_url: 'https://evil.example/cats' }, {}],
    ['an Instagram URL', { instagram: 'https://www.instagram.com/cats.nft/' }, { instagramUsername: 'cats.nft' }],
    ['a user name with spaces', { twitter: 'cats and dogs' }, {}],
    ['inherited keys', Object.create({ name: 'inherited' }), {}],
    ['nothing', {}, {}],
  ])('with %s', (_, document, expected) => {
    expect(one(document)).toEqual(expected);
  });

  test('gives only clean, bounded texts and safe links, whatever it holds', () => {
    const key = fc.constantFrom(
      ...[
        'name',
        'symbol',
        'image',
        'banner',
        'category',
        'tags',
        'website',
        'wiki',
        'discord',
        'telegram',
        'twitter',
      ],
      ...['instagram', 'links', 'media', '__proto__'],
    );
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl(),
      fc.constantFrom(
        'javascript:alert(1)',
        'data:text/html,x',
        '@a',
        'https://a:b@c.example',
        'ipfs://',
        '\ud800',
      ),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(fc.dictionary(key, value), (document) => {
        const fields = readCollectionFields(document);
        for (const text of Object.values(fields)) {
          if (text === null) continue;
          expect(text).not.toBe('');
          expect(text.isWellFormed() && !text.includes('\0')).toBe(true);
          expect(text.length).toBeLessThanOrEqual(32_768);
        }
        const links = [fields.projectUrl, fields.wikiUrl, fields.discordUrl, fields.telegramUrl];
        for (const link of links) if (link !== null) expect(link).toMatch(/^(https?|ipfs|ar):\/\//i);
        for (const picture of [fields.collectionLogo, fields.collectionBannerImage])
          if (picture !== null) expect(picture).toMatch(/^((https?|ipfs|ar):\/\/|data:image\/)/i);
      }),
      { numRuns: 500 },
    );
  });
});
