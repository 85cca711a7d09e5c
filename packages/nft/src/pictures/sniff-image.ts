/** Picture types with only pixels: they execute nothing and load nothing. */
export type RasterType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif';

/** Signatures: Latin-1 texts at byte offsets. */
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

/**
 * Returns the type of a picture from its first bytes, whatever the server declares; null for other types, such as SVG
 * and HTML.
 */
export function sniffImage(bytes: Uint8Array): RasterType | null {
  const beginning = Buffer.from(bytes.subarray(0, LONGEST)).toString('latin1');
  const found = BEGINNINGS.find(([, parts]) => parts.every(([at, text]) => beginning.startsWith(text, at)));
  return found?.[0] ?? null;
}

/** Bytes needed to recognize a type. */
const LONGEST = 16;
