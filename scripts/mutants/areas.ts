/** Areas of the product that mutants are made in, each by the git pathspecs of its files. */
export const AREAS = {
  sync: ['packages/sync/src/*.ts'],
  proof: ['packages/proof/src/*.ts'],
  decoders: [
    'packages/decoding/src/*.ts',
    'packages/token-events/src/*.ts',
    'packages/nft/src/trades/*.ts',
    'packages/transactions/src/evidence/*.ts',
  ],
  paging: [
    'packages/data-api/src/*.ts',
    'packages/core/src/cursors/cursor.ts',
    'packages/http/src/parameters/paging.ts',
    'packages/http/src/parameters/block-bounds.ts',
    'packages/history/src/page/*.ts',
    'packages/erc20/src/transfers/*.ts',
    'packages/nft/src/transfer-lists/*.ts',
  ],
  streams: ['packages/streams/src/matching/*.ts', 'packages/streams/src/payload/*.ts'],
  delivery: ['packages/streams/src/delivery/*.ts'],
  gateway: ['packages/gateway/src/*.ts'],
  balances: ['packages/erc20/src/balances/*.ts', 'packages/erc20/src/balance-proofs/*.ts'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Area = keyof typeof AREAS;

export const AREA_NAMES = Object.keys(AREAS).filter(isArea);

export function isArea(text: string): text is Area {
  return text in AREAS;
}

/** Whether a file belongs to the product: no test, no test rig, no declaration of tables or exports. */
export function isMutable(path: string): boolean {
  return !/\.test\.ts$|\/testing\/|\/(index|schema)\.ts$/.test(path);
}
