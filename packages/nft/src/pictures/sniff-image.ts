/** Types of pictures that hold pixels alone: nothing in them runs, or loads anything. */
export type RasterType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif';

/** What each begins with: Latin-1 text at a place. */
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

/** The type of a picture by its first bytes, whatever a server says of it; null for what is none of these: SVG and HTML are not. */
export function sniffImage(bytes: Uint8Array): RasterType | null {
  const beginning = Buffer.from(bytes.subarray(0, LONGEST)).toString('latin1');
  const found = BEGINNINGS.find(([, parts]) => parts.every(([at, text]) => beginning.startsWith(text, at)));
  return found?.[0] ?? null;
}

/** Bytes that tell. */
const LONGEST = 16;
