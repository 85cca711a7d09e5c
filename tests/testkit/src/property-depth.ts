import { type TestTier, testTier } from './test-tier.ts';

/** Factor for the runs of properties over a database, where a single run takes tens of milliseconds. */
const DEPTHS: Readonly<Record<TestTier, number>> = { fast: 0.25, system: 0.5, nightly: 2 };

/** Returns the runs of a property, or the milliseconds for them, scaled by the tier. `PROPERTY_DEPTH` overrides the tier's factor. */
export function atDepth(usual: number): number {
  return Math.ceil(usual * Number(process.env.PROPERTY_DEPTH ?? DEPTHS[testTier()]));
}
