import type { DueEntry } from '@chainstead/jobs/worker';
import { COLLECTION_METADATA, DUE_COLLECTIONS } from './collections/collection-rows.ts';
import { DUE_TOKENS, TOKEN_METADATA } from './collections/token-rows.ts';
import { DUE_TRAITS, TRAITS_WORK } from './traits/requested-traits.ts';

export const nftDueEntries: readonly DueEntry[] = [
  { kind: COLLECTION_METADATA, table: DUE_COLLECTIONS },
  { kind: TOKEN_METADATA, table: DUE_TOKENS },
  { kind: TRAITS_WORK, table: DUE_TRAITS },
];
