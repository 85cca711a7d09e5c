import { describe, expect, it } from 'vitest';
import { createEveryMetric } from './every-metric.ts';
import { readSourceFiles } from './source-files.ts';

const names = (await createEveryMetric().getMetricsAsJSON()).map(({ name }) => name);

describe('createEveryMetric', () => {
  it('holds every metric whose name stands in a source of the program', () => {
    const written = readSourceFiles()
      .filter(
        ({ path }) => /^(apps|packages)\//.test(path) && !path.endsWith('.test.ts') && !path.includes('/testkit/'),
      )
      .flatMap(({ text }) => [...text.matchAll(/\bname: '(chainstead_[a-z_]+)'/g)].map((match) => match[1] ?? ''));
    expect(written.length).toBeGreaterThan(5);
    expect(written.filter((name) => !names.includes(name))).toEqual([]);
  });
});
