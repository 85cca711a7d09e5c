/** Which tier of tests runs, as vitest.config.ts sets it: `fast` looks at less of what `system` and `nightly` cover in full. */
export type TestTier = 'fast' | 'system' | 'nightly';

/** The tier of this run. @returns `fast` if nothing sets it */
export function testTier(): TestTier {
  const { TEST_TIER: tier } = process.env;
  return tier === 'system' || tier === 'nightly' ? tier : 'fast';
}
