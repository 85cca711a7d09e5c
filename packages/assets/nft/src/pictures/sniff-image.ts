/** Only pixels: these types execute nothing and load nothing. */
export type RasterType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif';

const BEGINNINGS: readonly (readonly [RasterType, readonly (readonly [at: number, text: string])[]])[] = [
  ['image/png', [[0, '\x89PNG\r\n\x1a\n']]],
  ['image/jpeg', [[0, '\xff\xd8\xff']]],
  ['image/gif', [[0, 'GIF87a']]],
  ['image/gif', [[0, 'GIF89a']]],
  [
    'image/webp',
    [
      [0, 'RIFF'],
      [8, 'WEBP'],
    ],
  ],
  ['image/avif', [[4, 'ftypavif']]],
  ['image/avif', [[4, 'ftypavis']]],
];

export function sniffImage(bytes: Uint8Array): RasterType | null {
  const beginning = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  return BEGINNINGS.find(([, parts]) => parts.every(([at, text]) => beginning.startsWith(text, at)))?.[0] ?? null;
}
