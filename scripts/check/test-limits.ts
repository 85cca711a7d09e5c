import type { SourceFile } from './source-files.ts';

/** Longest time of a test, a hook or a wait, by the tier that vitest.config.ts puts a file into. Milliseconds. */
const TIERS = [
  { name: 'nightly', files: /\.nightly\.test\.ts$/, max: Number.POSITIVE_INFINITY },
  { name: 'system', files: /\.system\.test\.ts$/, max: 90_000 },
  { name: 'fast', files: /\.test\.ts$/, max: 30_000 },
] as const;

/** The option of a test, a hook or a wait, and the last argument behind a function. */
const LIMITS = [/\b(?:timeout|testTimeout|hookTimeout):\s*(\w+)/g, /^[ \t]*\},\s*(\w+),?\s*\)/gm];
const CONSTANT = /\bconst (\w+)(?::\s*\w+)? = (\d[\d_]*);/g;

/**
 * Returns a sentence for each limit in a test file that is above the one of its tier. A test that needs longer is split, does less, or
 * moves to a later tier.
 */
export function findLongLimits(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const tier = TIERS.find((one) => one.files.test(path));
    if (tier === undefined) return [];
    const constants = new Map([...text.matchAll(CONSTANT)].map(([, name = '', value = '']) => [name, value]));
    return LIMITS.flatMap((pattern) => [...text.matchAll(pattern)]).flatMap(
      ({ 0: found, 1: given = '', index }) => {
        const ms = Number((constants.get(given) ?? given).replaceAll('_', ''));
        const line = text.slice(0, index + found.length).split('\n').length;
        return ms > tier.max
          ? [`${path}:${line}: the limit is ${ms} ms, and ${tier.max} ms in the ${tier.name} tier`]
          : [];
      },
    );
  });
}
