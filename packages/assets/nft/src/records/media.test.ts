import { expect, test } from 'vitest';
import { mediaOf } from './record-response.ts';

const READ_AT = new Date('2024-01-02T03:04:05.678Z');
const CID = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG';

test.each([
  'https://x.example/1.png',
  `ipfs://${CID}/1.png`,
  CID,
  `ar://${'a'.repeat(43)}/1.png`,
  'data:image/svg+xml;base64,AAAA',
])('%s is told of, without previews', (image) => {
  expect(mediaOf({ image, animation_url: 'https://x.example/1.mp4' }, READ_AT)).toEqual({
    status: 'unsupported_media',
    original_media_url: image,
    updatedAt: '2024-01-02T03:04:05.678Z',
  });
});

test.each(['<svg/>', 'ftp://x.example/1.png', 'http://', 'ipfs://nonsense'])(
  'the place %s is not understood',
  (image) => {
    expect(mediaOf({ image }, READ_AT)).toEqual({ status: 'invalid_url', original_media_url: image });
  },
);

test('where no picture is named there is none', () => {
  expect(mediaOf({ animation_url: 'https://x.example/1.mp4', image: '' }, READ_AT)).toBeNull();
});
