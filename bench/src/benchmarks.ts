import type { Benchmark } from './benchmark.ts';
import { backfillBare } from './benchmarks/backfill-bare.ts';

/** Every benchmark, in the order in which they run. */
export const BENCHMARKS: readonly Benchmark[] = [backfillBare];
