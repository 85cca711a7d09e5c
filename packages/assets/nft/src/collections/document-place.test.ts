import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDocumentPlace } from './document-place.ts';

const V0 = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKHtRb';
const V1 = 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy';
const TX = 'a'.repeat(43);

function show(uri: string): string {
  const place = parseDocumentPlace(uri);
  if (place.kind === 'ipfs')
    return `ipfs ${place.id.text}${place.path}${place.given === null ? '' : ` or ${place.given}`}`;
  if (place.kind === 'http') return `http ${place.url}`;
  return place.kind === 'arweave' ? `arweave ${place.path}` : 'data';
}

describe('a place', () => {
  test.each([
    [`ipfs://${V0}`, `ipfs ${V0}`],
    [`ipfs://${V0}/`, `ipfs ${V0}`],
    [`ipfs://${V0}/1.json`, `ipfs ${V0}/1.json`],
    [`ipfs://ipfs/${V0}/a/b`, `ipfs ${V0}/a/b`],
    [`ipfs://ipfs/ipfs/${V0}`, `ipfs ${V0}`],
    [`ipfs:/${V0}`, `ipfs ${V0}`],
    [`ipfs:${V1}`, `ipfs ${V1}`],
    [`IPFS://${V1.toUpperCase()}`, `ipfs ${V1}`],
    [V0, `ipfs ${V0}`],
    [`/ipfs/${V0}/x`, `ipfs ${V0}/x`],
    [`ipfs/${V0}`, `ipfs ${V0}`],
    [` \0ipfs://${V0}\n`, `ipfs ${V0}`],
    [`ipfs://${V0}/#1 of 9%.json`, `ipfs ${V0}/%231%20of%209%25.json`],
    [`ipfs://${V0}/%231.json`, `ipfs ${V0}/%231.json`],
    [`https://ipfs.io/ipfs/${V0}/1.json`, `ipfs ${V0}/1.json or https://ipfs.io/ipfs/${V0}/1.json`],
    [`https://gateway.pinata.cloud/ipfs/${V0}`, `ipfs ${V0} or https://gateway.pinata.cloud/ipfs/${V0}`],
    [`https://${V1}.ipfs.dweb.link/1`, `ipfs ${V1}/1 or https://${V1}.ipfs.dweb.link/1`],
    [`https://${V1}.ipfs.nftstorage.link`, `ipfs ${V1} or https://${V1}.ipfs.nftstorage.link/`],
    ['https://example.com/ipfs/not-a-cid', 'http https://example.com/ipfs/not-a-cid'],
    ['HTTPS://Example.com/a b?c=d#e', 'http https://example.com/a%20b?c=d#e'],
    [`ar://${TX}`, `arweave /${TX}`],
    [`ar://${TX}/1.json`, `arweave /${TX}/1.json`],
    ['data:application/json,{}', 'data'],
    ['\n{"name":"a"}', 'data'],
    ['{ }', 'data'],
  ])('%s', (uri, expected) => {
    expect(show(uri)).toBe(expected);
  });

  test.each([
    ['', 'DOCUMENT_URI_INVALID'],
    ['nonsense', 'DOCUMENT_URI_INVALID'],
    ['{id}.json', 'DOCUMENT_URI_INVALID'],
    ['https://', 'DOCUMENT_URI_INVALID'],
    ['http://user:secret@example.com/', 'DOCUMENT_URI_INVALID'],
    [`https://example.com/${'a'.repeat(3_000)}`, 'DOCUMENT_URI_INVALID'],
    [`ipfs://${V0}/../../api/v0/pin`, 'DOCUMENT_URI_INVALID'],
    [`ipfs://${V0}/%2e%2e/%2E%2E/api`, 'DOCUMENT_URI_INVALID'],
    [`ipfs://${V0}/a%2f..%2fb`, 'DOCUMENT_URI_INVALID'],
    [`ipfs://${V0}/a%252e%252e`, null],
    [`ar://${TX}/../x`, 'DOCUMENT_URI_INVALID'],
    ['ar://short', 'DOCUMENT_URI_INVALID'],
    ['ipfs://', 'DOCUMENT_CID_INVALID'],
    ['ipfs://QmNotAnIdentifier', 'DOCUMENT_CID_INVALID'],
    ['ipfs://example.com/x', 'DOCUMENT_CID_INVALID'],
    [`ipfs://${V0.slice(0, -1)}`, 'DOCUMENT_CID_INVALID'],
    ['file:///etc/passwd', 'DOCUMENT_URI_UNSUPPORTED'],
    ['ipns://example.eth', 'DOCUMENT_URI_UNSUPPORTED'],
    ['javascript:alert(1)', 'DOCUMENT_URI_UNSUPPORTED'],
  ])('%s is refused: %s', (uri, code) => {
    if (code === null) expect(() => parseDocumentPlace(uri)).not.toThrow();
    else expect(() => parseDocumentPlace(uri)).toThrow(expect.objectContaining({ code }));
  });

  test('on a gateway never leaves the folder of its identifier', () => {
    const segment = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '%2e%2e',
        '%2E.',
        '%2f',
        '%5c',
        '\\',
        '%00',
        '..%2f..',
        '%252e%252e',
        '',
        '?',
        '#',
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 6 }), (segments) => {
        try {
          const place = parseDocumentPlace(`ipfs://${V0}/${segments.join('/')}`);
          if (place.kind !== 'ipfs') throw new Error('not ipfs');
          const url = new URL(`https://gateway.example/ipfs/${place.id.text}${place.path}`);
          expect(url.pathname).toBe(`/ipfs/${place.id.text}${place.path}`);
          expect([url.search, url.hash]).toEqual(['', '']);
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/^DOCUMENT_(URI|CID)_/) });
        }
      }),
      { numRuns: 500 },
    );
  });
});
